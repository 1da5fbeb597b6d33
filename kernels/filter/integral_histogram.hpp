// Integral histograms on a GPU: for each bin of grey values, the integral image (summed area table)
// of the pixels that fall into it, so that the histogram of any box takes four reads per bin. Their
// use here is to find a box by its histogram (filters/box_search.hpp). Includes no CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/image.hpp"
#include "filters/box_search.hpp"
#include "kernels/device/stream.hpp"

namespace facesat::gpu {

// The paper's names of the ways to scan along rows and columns (integral_histogram.cu), and a table
// of them in the same order.
enum class HistogramScan { wf_tis, cw_tis, cw_sts, cw_b };
struct HistogramScanInfo {
  HistogramScan scan;
  std::string_view id, title;
};
inline constexpr HistogramScanInfo histogram_scans[] = {
    {HistogramScan::wf_tis, "wf_tis",
     "Wavefront of tiles: rows and columns at once, a launch per anti-diagonal of tiles"},
    {HistogramScan::cw_tis, "cw_tis",
     "Cross-weave of tiles: along rows, then along columns, a launch per strip of tiles"},
    {HistogramScan::cw_sts, "cw_sts",
     "Cross-weave: all rows of all bins scanned, transposed, scanned and transposed, 4 launches"},
    {HistogramScan::cw_b, "cw_b",
     "Cross-weave, the baseline: the same with a launch for each row and bin"}};

constexpr const HistogramScanInfo& info_of(HistogramScan scan) {
  return histogram_scans[static_cast<std::size_t>(scan)];
}

// The tables of all bins. Element (x, y) of a table is the number of pixels of the bin in columns 0
// to x of rows 0 to y. Row -1 and column -1 are there, too, and zero.
struct IntegralHistogram {
  int bins = 0;                    // equal parts of the grey values (bin_of), at most 256
  std::uint32_t* first = nullptr;  // element (0, 0) of bin 0
  std::ptrdiff_t pitch = 0;        // elements from one row to the next
  std::ptrdiff_t plane = 0;        // from one bin's table to the next

  constexpr std::uint32_t* row(int bin, int y) const { return first + bin * plane + y * pitch; }
};

// Tables in memory that starts on a 256-byte boundary and was zero at first, for all pictures of up
// to `size`, one after the other. 64 elements are to the left, so that rows start on 256 bytes.
constexpr std::ptrdiff_t integral_histogram_pitch(Size size) {
  return divide_up(size.width, 64) * 64 + 64;
}
constexpr std::size_t integral_histogram_bytes(Size size, int bins) {
  return static_cast<std::size_t>(bins) * static_cast<std::size_t>(size.height + 1) *
         static_cast<std::size_t>(integral_histogram_pitch(size)) * sizeof(std::uint32_t);
}
constexpr IntegralHistogram integral_histogram_in(void* memory, Size size, int bins) {
  const std::ptrdiff_t pitch = integral_histogram_pitch(size);
  return {bins, static_cast<std::uint32_t*>(memory) + pitch + 64, pitch, pitch * (size.height + 1)};
}

int histogram_launches(HistogramScan scan, Size size, int bins);
// Bytes of scratch memory, which need not be zero.
std::size_t histogram_workspace_bytes(HistogramScan scan, Size size, int bins);

// Enqueues the tables of a picture of at least one pixel in device memory. Writes neither row -1
// nor column -1. Throws CudaError, as does the next function.
void enqueue_integral_histogram(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                                HistogramScan scan, void* workspace, StreamHandle stream);

// Enqueues the search for a box whose places make up the region of the tables. best[0] becomes the
// greatest rank_of() among them; the other elements are scratch memory.
inline constexpr std::size_t box_search_words = 1 + 256;
void enqueue_box_search(const IntegralHistogram& tables, const Histogram& object,
                        const BoxPlaces& places, std::uint64_t* best, StreamHandle stream);

// BoxSearch on a GPU. Throws DeviceError if there is no such device.
std::unique_ptr<BoxSearch> make_cuda_box_search(int device);

}  // namespace facesat::gpu

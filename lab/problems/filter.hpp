// What lab/problems/filter.cpp, the problem of `facesat bench filter`, and its GPU side have in
// common. Without CUDA headers.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "filters/mask.hpp"
#include "kernels/filter/algorithm.hpp"
#include "lab/measure.hpp"

namespace facesat::gpu {

// What is measured: Sobel's derivative along x and that along y; a stencil, the sum of a window
// along rows; convolutions along rows, and with a mask that is not separable, of weights that
// differ.
enum class BenchFilter {
  box,
  gaussian,
  sobel,
  sobel_y,
  stencil,
  convolution_rows,
  convolution,
  variance,
  skewness,
  adaptive_threshold
};
inline constexpr std::array<std::string_view, 10> bench_filter_names{
    "box",         "gaussian", "sobel",    "sobel-y",           "stencil", "convolution-rows",
    "convolution", "variance", "skewness", "adaptive-threshold"};

constexpr bool is_sobel(BenchFilter filter) {
  return filter == BenchFilter::sobel || filter == BenchFilter::sobel_y;
}
// Is NPP's filter measured, too?
constexpr bool is_measured_of_npp(BenchFilter filter) {
  return filter == BenchFilter::box || filter == BenchFilter::gaussian ||
         filter == BenchFilter::sobel || filter == BenchFilter::convolution ||
         filter == BenchFilter::adaptive_threshold;
}

// Pictures have 8 bits; results have 8, but those of sobel, stencil and convolution_rows are 32s,
// and those of variance and skewness 32f.
struct FilterCase {
  BenchFilter filter = BenchFilter::box;
  View<const std::uint8_t> picture;  // in the host's memory
  int radius = 1;
  Border border = Border::reflect101;

  // For statistics, the mask of their windows. Throws ArgumentError for a
  // radius that the filter does not take.
  Mask<std::int32_t> mask() const;
  double bytes() const;  // of the picture once and of the result once
};

// Calls visit(T{}) with the type of the results.
template <class Visit>
void visit_result_type(BenchFilter filter, Visit visit) {
  if (is_sobel(filter) || filter == BenchFilter::stencil || filter == BenchFilter::convolution_rows)
    visit(std::int32_t{});
  else if (filter == BenchFilter::variance || filter == BenchFilter::skewness)
    visit(float{});
  else
    visit(std::uint8_t{});
}

// The offset of adaptive_threshold.
inline constexpr int bench_offset = 5;

// The ids of all rows that a filter can have on a GPU, also in builds without CUDA: those of the
// registry, then for statistics "integral_statistics" and "direct_statistics", for gaussian
// "three_boxes" (an approximation, compared with the CPU's), and "peer_npp" where NPP's
// is measured.
std::vector<std::string> filter_ids(BenchFilter filter);

// The floor (a kernel that only reads each pixel and writes each element of the result, in the same
// types), and those of the ids that run on a GPU, with pictures in device memory. Results are
// compared with those of the CPU. NPP replicates borders, whatever the case's, has a rounding of
// its own, and is not compared. Rows have the fields "reads", per pixel, and "launches", where they
// are known. Without CUDA there are none. Throws DeviceError or MemoryError.
lab::GpuSubjects filter_subjects(const FilterCase& one, int device,
                                 const std::vector<std::string>& ids);

// One of NPP's filters, with a replicated border. NPP's Sobel has results of 16 bits in place
// of 32.
struct NppFilter {
  std::string why_not;  // why it cannot be measured; empty if it can
  // The task's pictures; its mask and border are not looked at. Throws NppError.
  std::function<void(const FilterTask&, StreamHandle)> enqueue{};
};
// Copies what it needs of the mask. Throws CudaError or MemoryError.
NppFilter npp_filter(BenchFilter filter, const Mask<std::int32_t>& mask);

}  // namespace facesat::gpu

namespace facesat::lab {

// The ids of a filter's rows on all threads of the CPU (filters/cpu/filter.hpp):
//   cpu_integral: sums of windows from an integral image (summed area table), whose time counts;
//   cpu_separable: along rows, then along columns;
//   cpu_direct: every weight of the mask, or every pixel of the window.
std::vector<std::string> cpu_filter_ids(gpu::BenchFilter filter);

}  // namespace facesat::lab

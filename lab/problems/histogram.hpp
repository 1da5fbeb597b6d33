// Integral histograms (kernels/filter/integral_histogram.hpp) are measured on noise: the floor and
// the check. lab/problems/histogram.cpp is the problem itself, for `facesat bench histogram`.
// Without CUDA headers.
#pragma once

#include <string>
#include <vector>

#include "core/image.hpp"
#include "kernels/filter/integral_histogram.hpp"
#include "lab/measure.hpp"

namespace facesat::gpu {

// What element (x, y) of a bin's table must be if those at its left, above it and between these two
// are right. If all elements are as expected, so are the whole tables, by induction.
constexpr std::uint32_t expected_count(View<const std::uint8_t> picture,
                                       const IntegralHistogram& tables, int bin, int x, int y) {
  const std::uint32_t *here = tables.row(bin, y) + x, *above = tables.row(bin, y - 1) + x;
  const bool is_in_bin = bin_of(picture.row(y)[x], tables.bins) == bin;
  return here[-1] + (above[0] - above[-1]) + (is_in_bin ? 1u : 0u);
}

// The floor: reads every pixel once and writes every element of all tables once, 16 bytes at a
// time. Rows of the picture start on 4 bytes.
void enqueue_floor(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                   StreamHandle stream);

// Adds the number of elements that are not as expected to *wrong, in device memory.
void enqueue_check(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                   unsigned* wrong, StreamHandle stream);

struct HistogramCase {
  Image<std::uint8_t> picture;
  int bins = 0;

  double bytes() const {  // of the picture once and of each table once
    return static_cast<double>(picture.size().area()) * (1 + 4.0 * bins);
  }
};

// The floor, and those of the ids that are in histogram_scans, with pictures and tables in device
// memory. Rows have the field "launches". Without CUDA there are none. Throws DeviceError or
// MemoryError.
lab::GpuSubjects histogram_subjects(const HistogramCase& one, int device,
                                    const std::vector<std::string>& ids);

}  // namespace facesat::gpu

// What lab/problems/filter.cpp, the problem of `facesat bench filter`, and its GPU side have in
// common. Without CUDA headers.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
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

constexpr std::string_view name_of(BenchFilter filter) {
  return bench_filter_names[static_cast<std::size_t>(filter)];
}

constexpr bool is_sobel(BenchFilter filter) {
  return filter == BenchFilter::sobel || filter == BenchFilter::sobel_y;
}
// Of the pixels of a window, without a mask: for 8-bit pictures only.
constexpr bool is_statistic(BenchFilter filter) {
  return filter == BenchFilter::variance || filter == BenchFilter::skewness ||
         filter == BenchFilter::adaptive_threshold;
}
// Along rows: signals, which are pictures of one row, have these.
constexpr bool is_along_rows(BenchFilter filter) {
  return filter == BenchFilter::stencil || filter == BenchFilter::convolution_rows;
}

// Of the pictures.
enum class PictureType { u8, s32, f32 };
struct PictureTypeInfo {
  PictureType type;
  std::string_view name;
};
inline constexpr std::array<PictureTypeInfo, 3> picture_types{
    {{PictureType::u8, "8u"}, {PictureType::s32, "32s"}, {PictureType::f32, "32f"}}};

constexpr std::string_view name_of(PictureType type) {
  return picture_types[static_cast<std::size_t>(type)].name;
}

// Is NPP's filter measured, too? It has none of 32s.
constexpr bool is_measured_of_npp(BenchFilter filter, PictureType type) {
  if (filter == BenchFilter::adaptive_threshold) return type == PictureType::u8;
  if (filter == BenchFilter::convolution_rows) return type == PictureType::f32;
  return type != PictureType::s32 &&
         (filter == BenchFilter::box || filter == BenchFilter::gaussian ||
          filter == BenchFilter::sobel || filter == BenchFilter::convolution);
}

// The greatest radius of `convolution` at which all sums of real numbers are exact: those of
// weights up to 15, and of pixels up to 1, are at most 2^24.
inline constexpr int greatest_exact_radius = 528;

// Results have the type of the picture; but those of 8-bit pictures are 32s for sobel, stencil and
// convolution_rows, and 32f for variance and skewness. Pixels are grey levels, and weights whole
// numbers, in all types, so that sums of real numbers are exact in any order, and results can be
// compared bit for bit. If the sums of 255s would exceed 2^24, real numbers are darker.
struct FilterCase {
  BenchFilter filter = BenchFilter::box;
  PictureType type = PictureType::u8;
  View<const std::uint8_t> picture;  // the grey levels, in the host's memory
  int radius = 1;
  Border border = Border::reflect101;

  // For statistics, the mask of their windows. W: float for real numbers, else std::int32_t. Throws
  // ArgumentError for a radius that the filter does not take.
  template <class W>
  Mask<W> mask() const;
  // The picture in its type. Throws MemoryError.
  template <class In>
  Image<In> typed_picture() const;
  double bytes() const;  // of the picture once and of the result once
};

template <class T>
using WeightOf = std::conditional_t<std::is_same_v<T, float>, float, std::int32_t>;

// Calls visit(In{}, Out{}) with the types of picture and result.
template <class Visit>
void visit_types(const FilterCase& one, Visit visit) {
  if (one.type == PictureType::s32) return visit(std::int32_t{}, std::int32_t{});
  if (one.type == PictureType::f32) return visit(float{}, float{});
  if (is_sobel(one.filter) || is_along_rows(one.filter))
    visit(std::uint8_t{}, std::int32_t{});
  else if (one.filter == BenchFilter::variance || one.filter == BenchFilter::skewness)
    visit(std::uint8_t{}, float{});
  else
    visit(std::uint8_t{}, std::uint8_t{});
}

// The offset of adaptive_threshold.
inline constexpr int bench_offset = 5;

// The ids of all rows that a filter can have on a GPU: those of the registry (in builds without
// CUDA, where algorithms cannot be asked, all of them), then for statistics "integral_statistics"
// and "direct_statistics", for gaussian of 8 bits "three_boxes" (an approximation, compared with
// the CPU's), and "peer_npp" where NPP's is measured.
std::vector<std::string> filter_ids(BenchFilter filter, PictureType type);

// The floor (a kernel that only reads each pixel and writes each element of the result, in the same
// types), and those of the ids that run on a GPU, with pictures in device memory. Results are
// compared with those of the CPU. NPP replicates borders, whatever the case's, has a rounding of
// its own, and is not compared. Rows have the fields "reads", per pixel, and "launches", where they
// are known. Without CUDA there are none. Throws DeviceError or MemoryError.
lab::GpuSubjects filter_subjects(const FilterCase& one, int device,
                                 const std::vector<std::string>& ids);

// One of NPP's filters, with a replicated border. NPP's Sobel of 8-bit pictures has results of 16
// bits in place of 32.
struct NppFilter {
  std::string why_not;  // why it cannot be measured; empty if it can
  // The task's pictures; its mask and border are not looked at. Throws NppError.
  std::function<void(const FilterTask&, StreamHandle)> enqueue{};
};
// Copies what it needs of the mask. Throws CudaError or MemoryError.
NppFilter npp_filter(const FilterCase& one);

}  // namespace facesat::gpu

namespace facesat::lab {

// The ids of a filter's rows on all threads of the CPU (filters/cpu/filter.hpp):
//   cpu_integral: sums of windows from an integral image (summed area table), whose time counts;
//   cpu_separable: along rows, then along columns;
//   cpu_direct: every weight of the mask, or every pixel of the window.
std::vector<std::string> cpu_filter_ids(gpu::BenchFilter filter,
                                        gpu::PictureType type = gpu::PictureType::u8);

}  // namespace facesat::lab

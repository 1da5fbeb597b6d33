// The contract of every convolution on a GPU, and the registry of all of them, without CUDA
// headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/image.hpp"
#include "filters/border.hpp"
#include "filters/mask.hpp"
#include "filters/picture_filter.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/registry.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// Sums of integers have 32 bits, and wrap. A result of 8 bits is their rounded quotient
// (filters/rounding.hpp).
enum class FilterType { u8_u8, u8_s32, s32_s32, f32_f32 };

struct FilterTypeInfo {
  FilterType type;
  std::string_view name;
  std::size_t input_bytes, output_bytes;  // per element
};
inline constexpr std::array<FilterTypeInfo, 4> filter_types{
    {{FilterType::u8_u8, "8u8u", 1, 1},
     {FilterType::u8_s32, "8u32s", 1, 4},
     {FilterType::s32_s32, "32s32s", 4, 4},
     {FilterType::f32_f32, "32f32f", 4, 4}}};
constexpr const FilterTypeInfo& info_of(FilterType type) {
  return filter_types[static_cast<std::size_t>(type)];
}

// Calls visit(In{}, Out{}). Weights and divisors are std::int32_t for integers and float for real
// numbers.
template <class Visit>
void visit_types(FilterType type, Visit visit) {
  switch (type) {
    case FilterType::u8_u8:
      return visit(std::uint8_t{}, std::uint8_t{});
    case FilterType::u8_s32:
      return visit(std::uint8_t{}, std::int32_t{});
    case FilterType::s32_s32:
      return visit(std::int32_t{}, std::int32_t{});
    case FilterType::f32_f32:
      return visit(float{}, float{});
  }
}

// Each kind of mask is also one of the kinds before it.
enum class MaskKind {
  any,
  separable,  // the product of a row and a column
  ones        // a box: every weight is 1
};

// A mask in device memory, of W: std::int32_t for integers, float for real numbers.
struct DeviceMask {
  MaskKind kind = MaskKind::any;
  Radius radius;
  const void* weights = nullptr;  // radius.rows() rows of radius.columns() weights
  const void* row = nullptr;      // of a separable mask: its factors
  const void* column = nullptr;
  // The same in the host's memory; what an algorithm needs of them, enqueue() copies.
  const void* host_weights = nullptr;
  const void* host_row = nullptr;
  const void* host_column = nullptr;
  double divisor = 1;  // Mask::divisor
};

// The convolution of a picture, as filters/definition.hpp defines it. Pictures are in device
// memory and do not overlap; pitches are in elements. Rows start on 16-byte boundaries. Past their
// ends, memory may be read up to the next such boundary, and rows of the result may be overwritten
// up to the next multiple of 4 elements.
struct FilterTask {
  FilterType type = FilterType::u8_u8;
  Size size;
  const void* input = nullptr;
  std::ptrdiff_t input_pitch = 0;
  void* output = nullptr;
  std::ptrdiff_t output_pitch = 0;
  Border border = Border::reflect101;
  DeviceMask mask;
  const SatAlgorithm* sat = nullptr;  // for filters by integral images; null: the default
};

// A convolution algorithm: a constant in kernels/filter whose name is the id, in a file of that
// name or, for those of the lecture, in lecture_*.cu. Every algorithm takes
// every type and border.
struct FilterAlgorithm {
  std::string_view id, title, source;
  MaskKind takes = MaskKind::any;  // the masks that it is for
  bool is_1d = false;              // along rows alone, also of long signals: masks of one row
  bool is_valid_part = false;      // writes only the pixels whose window lies within the picture

  // Why a task, whose arrays are not looked at, is not for this algorithm, in a few words; empty if
  // it is. why_not() below also checks the mask's kind and shape.
  std::string (*why_not)(const FilterTask&) = nullptr;  // null: takes all
  // Pixels that are read per pixel of the result, from global memory and the caches in front of it;
  // for an algorithm by integral images, elements of tables are counted, too.
  double (*reads)(const FilterTask&);

  int launches = 1;
  // Bytes of scratch memory for a task, whose arrays are not looked at. The memory belongs to the
  // caller, starts on a 256-byte boundary, must be zero before the first use for tasks of this
  // type, size, mask and border, and is left ready for the next use. Only one call's launches at a
  // time may use it.
  std::size_t (*workspace_bytes)(const FilterTask&) = [](const FilterTask&) {
    return std::size_t{0};
  };
  // Enqueues the whole algorithm; allocates nothing, waits for nothing. Throws CudaError.
  void (*enqueue)(const FilterTask& task, void* workspace, StreamHandle stream);
};

Algorithms<FilterAlgorithm> filter_algorithms();
inline const FilterAlgorithm* find_filter(std::string_view id) {
  return find_by_id(filter_algorithms(), id);
}

// Why the algorithm cannot do the task, in a few words; empty if it can. Pictures have sides of 1
// to 32768, but along rows alone up to longest_filter_row columns; masks have radii of 0 to
// greatest_filter_radius.
inline constexpr int longest_filter_row = 1 << 28;
std::string why_not(const FilterAlgorithm& algorithm, const FilterTask& task);

// PictureFilter on a GPU. Steps are the upload, the filter under its algorithm's id, and the
// download. Throws DeviceError if there is no such device.
std::unique_ptr<PictureFilter> make_cuda_picture_filter(int device);

#define FACESAT_ALGORITHM(id) extern const FilterAlgorithm id;
#include "kernels/filter/registry.def"
#undef FACESAT_ALGORITHM

}  // namespace facesat::gpu

// The element types of filters: of the picture and of the result. Includes no CUDA headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace facesat::gpu {

// Sums of integers have 32 bits, and wrap. A result of 8 bits is their rounded quotient
// (core/filter/rounding.hpp).
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

}  // namespace facesat::gpu

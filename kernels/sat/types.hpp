// The element types of pictures and of their integral images (summed area tables, SAT). Includes no
// CUDA headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace facesat::gpu {

// Named by the type of the picture and that of the table. Integer sums wrap modulo 2^32.
enum class SatType { u8_s32, u8_u32, u8_f32, s32_s32, u32_u32, f32_f32, f64_f64 };

struct SatTypeInfo {
  SatType type;
  std::string_view name;
  std::size_t input_bytes, table_bytes;  // per element
};
inline constexpr std::array<SatTypeInfo, 7> sat_types{{{SatType::u8_s32, "8u32s", 1, 4},
                                                       {SatType::u8_u32, "8u32u", 1, 4},
                                                       {SatType::u8_f32, "8u32f", 1, 4},
                                                       {SatType::s32_s32, "32s32s", 4, 4},
                                                       {SatType::u32_u32, "32u32u", 4, 4},
                                                       {SatType::f32_f32, "32f32f", 4, 4},
                                                       {SatType::f64_f64, "64f64f", 8, 8}}};
constexpr const SatTypeInfo& info_of(SatType type) {
  return sat_types[static_cast<std::size_t>(type)];
}

// Calls visit(In{}, Out{}) with the C++ types in which tables of `type` are computed. Signed
// integers are summed as unsigned ones, which give the same bits and may overflow.
template <class Visit>
void visit_types(SatType type, Visit visit) {
  switch (type) {
    case SatType::u8_s32:
    case SatType::u8_u32:
      return visit(std::uint8_t{}, std::uint32_t{});
    case SatType::u8_f32:
      return visit(std::uint8_t{}, float{});
    case SatType::s32_s32:
    case SatType::u32_u32:
      return visit(std::uint32_t{}, std::uint32_t{});
    case SatType::f32_f32:
      return visit(float{}, float{});
    case SatType::f64_f64:
      return visit(double{}, double{});
  }
}

}  // namespace facesat::gpu

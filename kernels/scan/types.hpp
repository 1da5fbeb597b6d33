// The element types and operators of prefix scans. Includes no CUDA headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace facesat::gpu {

enum class ScanType { s32, u32, s64, f32, f64 };

struct ScanTypeInfo {
  ScanType type;
  std::string_view name;
  std::size_t bytes;  // per element
};
inline constexpr std::array<ScanTypeInfo, 5> scan_types{{{ScanType::s32, "32s", 4},
                                                         {ScanType::u32, "32u", 4},
                                                         {ScanType::s64, "64s", 8},
                                                         {ScanType::f32, "32f", 4},
                                                         {ScanType::f64, "64f", 8}}};
constexpr const ScanTypeInfo& info_of(ScanType type) {
  return scan_types[static_cast<std::size_t>(type)];
}

// Sums and products of integers wrap modulo 2^32 or 2^64. Minima and maxima of arrays that contain
// NaN are unspecified.
enum class ScanOperator { sum, product, minimum, maximum };

inline constexpr std::array<std::string_view, 4> scan_operators{"sum", "product", "minimum",
                                                                "maximum"};
constexpr std::string_view name_of(ScanOperator op) {
  return scan_operators[static_cast<std::size_t>(op)];
}

}  // namespace facesat::gpu

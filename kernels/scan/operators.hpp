// The operators of prefix scans, for the CPU and for kernels.
#pragma once

#include <limits>
#include <type_traits>

#include "kernels/scan/types.hpp"

namespace facesat::gpu {

// The element that changes no other one that it is combined with.
template <class T>
constexpr T identity_of(ScanOperator op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case ScanOperator::sum:
      return T{};
    case ScanOperator::product:
      return T{1};
    case ScanOperator::minimum:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case ScanOperator::maximum:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  return T{};
}
// Integers as unsigned ones, whose sums and products wrap.
template <class T>
constexpr auto wrapping(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(value);
  else
    return value;
}

template <class T>
constexpr T combine(ScanOperator op, T a, T b) {
  switch (op) {
    case ScanOperator::sum:
      return static_cast<T>(wrapping(a) + wrapping(b));
    case ScanOperator::product:
      return static_cast<T>(wrapping(a) * wrapping(b));
    case ScanOperator::minimum:
      return b < a ? b : a;
    case ScanOperator::maximum:
      return a < b ? b : a;
  }
  return a;
}

// Calls visit(T{}) with the C++ type of the elements.
template <class Visit>
void visit_type(ScanType type, Visit visit) {
  switch (type) {
    case ScanType::s32:
      return visit(std::int32_t{});
    case ScanType::u32:
      return visit(std::uint32_t{});
    case ScanType::s64:
      return visit(std::int64_t{});
    case ScanType::f32:
      return visit(float{});
    case ScanType::f64:
      return visit(double{});
  }
}

}  // namespace facesat::gpu

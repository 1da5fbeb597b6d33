// The operators of prefix scans, for the CPU and for kernels, and the definition of a scan.
#pragma once

#include <array>
#include <limits>
#include <type_traits>

#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {

// The map x -> a x + b; of integers, modulo 2^32. Such maps, composed in their order, are what the
// steps of a first-order recursive filter, y[i] = a[i] y[i - 1] + b[i], do one after the other:
// y[i] is the b of their inclusive scan if y[-1] = 0.
template <class T>
struct alignas(2 * sizeof(T)) Affine {
  T a, b;
  friend constexpr bool operator==(const Affine&, const Affine&) = default;
};
template <class T>
constexpr bool is_affine = false;
template <class T>
constexpr bool is_affine<Affine<T>> = true;

// The element that changes no other one that it is combined with.
template <class T>
constexpr T identity_of(ScanOperator op) {
  if constexpr (is_affine<T>) {
    return {1, 0};
  } else {
    using Limits = std::numeric_limits<T>;
    switch (op) {
      case ScanOperator::product:
        return T{1};
      case ScanOperator::minimum:
        return Limits::has_infinity ? Limits::infinity() : Limits::max();
      case ScanOperator::maximum:
        return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      case ScanOperator::sum:
      case ScanOperator::compose:
        break;
    }
    return T{};
  }
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
  if constexpr (is_affine<T>) {
    return {b.a * a.a, b.a * a.b + b.b};  // first a, then b
  } else {
    switch (op) {
      case ScanOperator::sum:
        return static_cast<T>(wrapping(a) + wrapping(b));
      case ScanOperator::product:
        return static_cast<T>(wrapping(a) * wrapping(b));
      case ScanOperator::minimum:
        return b < a ? b : a;
      case ScanOperator::maximum:
        return a < b ? b : a;
      case ScanOperator::compose:
        break;
    }
    return a;
  }
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
    case ScanType::affine_u32:
      return visit(Affine<std::uint32_t>{});
    case ScanType::affine_f32:
      return visit(Affine<float>{});
  }
}

// The definition of a scan, by one thread of the CPU: what tests compare with. Scans arrays that
// the CPU can access, which may be the same.
inline void scan_reference(const ScanTask& task) {
  visit_type(task.type, [&]<class T>(T) {
    const T* input = static_cast<const T*>(task.input);
    T* const output = static_cast<T*>(task.output);
    for (int k = 0; k < task.order; ++k) {
      std::array<T, most_scan_tuple> sums;
      sums.fill(identity_of<T>(task.op));
      for (int i = 0; i < task.n; ++i) {
        T& sum = sums[static_cast<std::size_t>(i % task.tuple)];
        const T next = combine(task.op, sum, input[i]);
        output[i] = task.is_inclusive ? next : sum;
        sum = next;
      }
      input = output;
    }
  });
}

}  // namespace facesat::gpu

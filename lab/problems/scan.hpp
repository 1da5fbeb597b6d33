// Prefix scans are measured on arrays whose results are exact: their elements, the floor and the
// check. lab/problems/scan.cpp is the problem itself, for `facesat bench scan`. Without CUDA
// headers.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/scan/algorithm.hpp"
#include "kernels/scan/operators.hpp"
#include "lab/measure.hpp"

namespace facesat::gpu {

constexpr std::uint32_t scan_noise(int i, std::uint32_t seed) {
  std::uint32_t h = (static_cast<std::uint32_t>(i) * 0x9E3779B1u) ^ (seed * 0x85EBCA77u);
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return h ^ h >> 15;
}

// Element i of an array of n numbers. Scans of it by `op` are exact in any order of operations,
// and show errors anywhere in the array:
// - sums: integers have random bits. Real numbers are integers from -15 to 15, and random, so that
//   sums over any part of the array stay far below 2^24;
// - products: integers are odd, so that no bits are lost. Real numbers are 1 or -1, but for at most
//   64 powers of two in the array;
// - minima fall and maxima rise through the whole array.
template <class T>
constexpr T scan_number(ScanOperator op, int n, int i, std::uint32_t seed) {
  const std::uint32_t h = scan_noise(i, seed);
  if (op == ScanOperator::minimum || op == ScanOperator::maximum) {
    const int trend = op == ScanOperator::maximum ? i : n - 1 - i;
    const int middle = std::is_unsigned_v<T> ? 0 : n / 2;
    return static_cast<T>(trend - middle + static_cast<int>(h & 1023));
  }
  if constexpr (std::is_integral_v<T>) {
    const std::uint64_t bits = static_cast<std::uint64_t>(h) << 32 | scan_noise(i, ~seed);
    return static_cast<T>(op == ScanOperator::product ? bits | 1 : bits);
  } else {
    if (op == ScanOperator::sum)
      return static_cast<T>(static_cast<int>(h & 15) - static_cast<int>(h >> 4 & 15));
    const int distance = n / 64 + 1;  // between powers of two
    const T power = i % distance == distance / 2 ? static_cast<T>(h & 2 ? 2 : 0.5) : T{1};
    return h & 1 ? -power : power;
  }
}

// Element i of an array of n numbers, or of n maps x -> a x + b that stay exact, too: an odd a, or
// 1 or -1, and a b as sums have it.
template <class T>
constexpr T scan_input(ScanOperator op, int n, int i, std::uint32_t seed) {
  if constexpr (is_affine<T>) {
    using Number = decltype(T::a);
    const std::uint32_t h = scan_noise(i, seed);
    const Number sign = h & 1 ? static_cast<Number>(-1) : Number{1};
    return {std::is_integral_v<Number> ? static_cast<Number>(h | 1) : sign,
            scan_number<Number>(ScanOperator::sum, n, i, ~seed)};
  } else {
    return scan_number<T>(op, n, i, seed);
  }
}

// What element i of the result must be if all elements before it are right. If all elements are as
// expected, so is the whole result, by induction. Of orders above 1, only for sums of integers:
// their q-th differences are the input, so element i follows from the q elements of its place in
// the tuple before it.
template <class T>
constexpr T scan_expected(const ScanTask& task, const T* output, int i, std::uint32_t seed) {
  // Of the elements that are combined, the last one.
  const int last = task.is_inclusive ? i : i - task.order * task.tuple;
  if (last < 0) return identity_of<T>(task.op);
  const T element = scan_input<T>(task.op, task.n, last, seed);
  if constexpr (std::is_integral_v<T>)
    if (task.order > 1) {
      auto sum = wrapping(element);
      int binomial = 1;  // of q and k
      for (int k = 1; k <= task.order && k * task.tuple <= i; ++k) {
        binomial = binomial * (task.order - k + 1) / k;
        const auto term =
            static_cast<decltype(sum)>(binomial) * wrapping(output[i - k * task.tuple]);
        sum = k % 2 == 1 ? sum + term : sum - term;
      }
      return static_cast<T>(sum);
    }
  return last < task.tuple ? element : combine(task.op, output[i - task.tuple], element);
}

// ---- on the GPU

// Fills the task's input with scan_input().
void enqueue_fill(const ScanTask& task, std::uint32_t seed, StreamHandle stream);

// The floor: copies every element from the input to the output, 16 bytes at a time. No scan can be
// faster than this by more than noise.
void enqueue_floor(const ScanTask& task, StreamHandle stream);

// Adds the number of the output's elements that are not as expected to *wrong, in device memory.
// The input had been filled from `seed`; it is not read.
void enqueue_check(const ScanTask& task, std::uint32_t seed, unsigned* wrong, StreamHandle stream);

// CUB's scan, which users have without the collection. It fulfils the contract of
// kernels/scan/algorithm.hpp, but is not in its registry.
extern const ScanAlgorithm peer_cub_scan;

// facesat_scan, once for each order.
inline constexpr const char* repeated_scan_id = "facesat_scan_repeated";

// An algorithm with its settings.
struct ScanRow {
  std::string id;
  ScanSettings settings{};
};

// The floor, cudaMemcpy, and those of the chosen algorithms that are the registry's or CUB's, with
// arrays in device memory. `task` has neither arrays nor settings. Without CUDA there are none.
// Throws DeviceError or MemoryError.
lab::GpuSubjects scan_subjects(const ScanTask& task, bool in_place, int device,
                               const std::vector<ScanRow>& chosen);

}  // namespace facesat::gpu

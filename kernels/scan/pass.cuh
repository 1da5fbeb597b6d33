// A pass: a ScanTask as kernels see it, with static types.
#pragma once

#include <type_traits>

#include "core/image.hpp"
#include "kernels/device/warp.cuh"
#include "kernels/scan/algorithm.hpp"
#include "kernels/scan/operators.hpp"

namespace facesat::gpu {

// Adds two elements.
template <class T>
struct Sum {
  static constexpr bool is_commutative = true;
  __device__ T identity() const { return T{}; }
  __device__ T operator()(T a, T b) const { return static_cast<T>(a + b); }
};

// Any operator, chosen at run time. Sums, which are measured most, have kernels of their own
// instead; all other operators share these, which halves the code.
template <class T>
struct AnyOperator {
  static constexpr bool is_commutative = !is_affine<T>;  // whether operands may change places
  ScanOperator op;
  __device__ T identity() const { return identity_of<T>(op); }
  __device__ T operator()(T a, T b) const { return combine(op, a, b); }
};

// Adjacent elements that one thread moves together, by accesses of up to 16 bytes.
template <class T, int count>
struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Several {
  T v[count];
};

template <class T_, class Op_>
struct ScanPass {
  using T = T_;
  using Op = Op_;

  int n;
  bool is_inclusive;
  Op op;
  const T* input;
  T* output;
  // Whether elements are read through the cache of read-only data (the LDG instruction). The input
  // must then not be written during the launch.
  bool is_read_only = false;

  __device__ T read(int i) const {
#if !defined(FACESAT_SIMT)
    if (is_read_only) {
      if constexpr (is_affine<T>)
        return read_several<1>(i).v[0];
      else
        return __ldg(input + i);
    }
#endif
    return input[i];
  }
  // Element i; past the end, the identity, which changes no result.
  __device__ T load(int i) const {
    return i < n ? read(i) : op.identity();
  }

  // Elements i to i + count - 1; i is a multiple of `count`.
  template <int count>
  __device__ Several<T, count> load_several(int i) const {
    Several<T, count> loaded;
    if constexpr (count > 1)
      if (i + count <= n) return read_several<count>(i);
    FACESAT_UNROLL
    for (int k = 0; k < count; ++k) loaded.v[k] = load(i + k);
    return loaded;
  }

  // Stores results: `inclusive` are the inclusive scans of elements i to i + count - 1 alone, and
  // `before` is the combination of all elements before i.
  template <int count>
  __device__ void store_several(int i, T before, const Several<T, count>& inclusive) const {
    Several<T, count> results;
    FACESAT_UNROLL
    for (int k = 0; k < count; ++k) {
      const T exclusive = k > 0 ? op(before, inclusive.v[k > 0 ? k - 1 : 0]) : before;
      results.v[k] = is_inclusive ? op(before, inclusive.v[k]) : exclusive;
    }
    if (i + count <= n) {
      *reinterpret_cast<Several<T, count>*>(output + i) = results;
      return;
    }
    FACESAT_UNROLL
    for (int k = 0; k < count; ++k)
      if (i + k < n) output[i + k] = results.v[k];
  }

 private:
  template <int count>
  __device__ Several<T, count> read_several(int i) const {
    using Vector = Several<T, count>;
#if !defined(FACESAT_SIMT)
    if (is_read_only) {
      constexpr int words = sizeof(Vector) / (sizeof(Vector) < 16 ? 8 : 16);
      using Word = std::conditional_t<sizeof(Vector) < 16, uint2, uint4>;
      union {
        Vector vector;
        Word word[words];
      };
      for (int k = 0; k < words; ++k) word[k] = __ldg(reinterpret_cast<const Word*>(input + i) + k);
      return vector;
    }
#endif
    return *reinterpret_cast<const Vector*>(input + i);
  }
};

// Calls launch(pass) with the static types of a task. Integers are added as unsigned ones, which
// give the same bits.
template <class Launch>
void with_pass(const ScanTask& task, Launch launch) {
  const auto call = [&]<class T, class Op>(T, Op op) {
    launch(ScanPass<T, Op>{task.n, task.is_inclusive, op, static_cast<const T*>(task.input),
                           static_cast<T*>(task.output)});
  };
  const bool is_sum = task.op == ScanOperator::sum;
  const auto visit = [&]<class T, class Unsigned>(T, Unsigned) {
    if (is_sum)
      call(Unsigned{}, Sum<Unsigned>{});
    else
      call(T{}, AnyOperator<T>{task.op});
  };
  switch (task.type) {
    case ScanType::s32:
      return visit(std::int32_t{}, std::uint32_t{});
    case ScanType::u32:
      return visit(std::uint32_t{}, std::uint32_t{});
    case ScanType::s64:
      return visit(std::int64_t{}, std::uint64_t{});
    case ScanType::f32:
      return visit(float{}, float{});
    case ScanType::f64:
      return visit(double{}, double{});
    case ScanType::affine_u32:
      return call(Affine<std::uint32_t>{}, AnyOperator<Affine<std::uint32_t>>{task.op});
    case ScanType::affine_f32:
      return call(Affine<float>{}, AnyOperator<Affine<float>>{task.op});
  }
}

// A pass over another array of the same type, like the totals of blocks.
template <class Pass>
Pass over(const Pass& pass, typename Pass::T* array, int n, bool is_inclusive) {
  Pass other = pass;
  other.n = n;
  other.is_inclusive = is_inclusive;
  other.input = other.output = array;
  other.is_read_only = false;
  return other;
}

// ---- scans within a block ----

// The threads of a block: a constant where `known` is one, so that loops over them can be unrolled,
// or, where it is 0, a number that the launch decides.
template <int known>
__device__ __forceinline__ int threads_of_block() {
  if constexpr (known > 0)
    return known;
  else
    return static_cast<int>(blockDim.x);
}

// Kogge and Stone: in step d, each lane takes in the lane d before it.
struct KoggeStoneLanes {
  template <class T, class Op>
  __device__ __forceinline__ static T scan(const Op& op, T value) {
    FACESAT_UNROLL
    for (unsigned d = 1; d < 32; d *= 2) {
      const T other = __shfl_up_sync(full_warp, value, d);
      if (lane_of_thread() >= d) value = op(other, value);
    }
    return value;
  }
};

// Ladner and Fischer: in step d, the upper half of each group of 2d lanes takes in the last lane of
// the lower half.
struct LadnerFischerLanes {
  template <class T, class Op>
  __device__ __forceinline__ static T scan(const Op& op, T value) {
    const unsigned lane = lane_of_thread();
    FACESAT_UNROLL
    for (unsigned d = 1; d < 32; d *= 2) {
      const unsigned last_of_lower = (lane & ~(2 * d - 1)) + d - 1;
      const T lower = __shfl_sync(full_warp, value, static_cast<int>(last_of_lower));
      if (lane & d) value = op(lower, value);
    }
    return value;
  }
};

// The combination of all elements before a thread's, and of all elements of the block, from each
// thread's combination of its own, by a scan within each warp and one of the warps' totals.
// `totals` has room for 32 elements. All threads of the block must call this; a barrier must follow
// before `totals` is used again.
template <class T>
struct BlockPrefix {
  T before, total;
};
template <class Lanes, int known_threads = 0, class T, class Op, class Shared>
__device__ __forceinline__ BlockPrefix<T> scan_block(const Op& op, T own, Shared& totals) {
  const int lane = static_cast<int>(lane_of_thread());
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = threads_of_block<known_threads>() / 32;
  const T inclusive = Lanes::scan(op, own);
  if (lane == 31) totals[warp] = inclusive;
  __syncthreads();
  if (warp == 0) {
    const T scanned = Lanes::scan(op, lane < warps ? static_cast<T>(totals[lane]) : op.identity());
    totals[lane] = scanned;
  }
  __syncthreads();
  const T previous = __shfl_up_sync(full_warp, inclusive, 1);
  const T lanes_before = lane > 0 ? previous : op.identity();
  const T warps_before = warp > 0 ? static_cast<T>(totals[warp > 0 ? warp - 1 : 0]) : op.identity();
  return {op(warps_before, lanes_before), totals[warps - 1]};
}

}  // namespace facesat::gpu

// Products of small matrices of bytes or doubles, by the tensor cores of a GPU. All lanes of a warp
// call these functions together.
//
//   void multiply_add(double (&sums)[2], double a, double b);
//     sums += A * B, for A of 8 rows by 4 columns and B of 4 by 8 (mma m8n8k4; by shuffles before
//     compute capability 8.0). Lane l has row l / 4, column l % 4 of A, row l % 4, column l / 4 of
//     B, and row l / 4, columns 2 * (l % 4) and 2 * (l % 4) + 1 of the sums.
//
// A matrix of bytes lies in shared memory as core matrices (PTX's word): 8 rows of 16 bytes, each
// on a 16-byte boundary.
//
//   CoreMatrices load_core_matrices(const DynamicShared<std::uint32_t>& shared, unsigned address);
//     Loads four of them (ldmatrix). Lane l passes the address of row l % 8 of number l / 8; it
//     gets bytes 4 * (l % 4) to 4 * (l % 4) + 3 of row l / 4 of each.
//
//   void multiply_add(std::int32_t (&sums)[4], const std::uint32_t (&a)[4],
//                     const std::uint32_t (&b)[2]);
//     sums += A * B, for A of 16 rows by 32 unsigned bytes and B of 32 by 8 columns of signed bytes
//     (mma m16n8k32). `a` is A as load_core_matrices() gives it for those top left, bottom left,
//     top right, bottom right. `b` is B's columns as load_core_matrices() gives them, with a column
//     as a row of two core matrices: bytes 0 to 15, bytes 16 to 31. Lane l has the sums of rows l /
//     4 (elements 0 and 1) and l / 4 + 8 (elements 2 and 3), in columns 2 * (l % 4) and 2 * (l % 4)
//     + 1. Sums of std::uint32_t are those of a B of unsigned bytes, modulo 2^32.
//
//   template <int n>
//   void multiply_by_warpgroup(const DynamicShared<std::uint32_t>& shared,
//                              std::int32_t (&sums)[n][4], const ByteMatrix& a,
//                              const ByteMatrix& b, int steps);
//     As multiply_by_warps() below, by wgmma (compute capability 9.0), which all threads of a
//     warpgroup (four warps) call together. Both matrices must have been published: each thread
//     calls publish_matrices() after it has written, before a barrier.
//
//   template <int n, int steps>
//   void multiply_rows_by_warpgroup(const DynamicShared<std::uint32_t>& shared,
//                                   std::int32_t (&sums)[n][4],
//                                   const std::uint32_t (&rows)[steps][4], const ByteMatrix& b,
//                                   bool adds);
//     As multiply_rows_by_warps() below, likewise; `b` must have been published.
#pragma once

#include <type_traits>
#include <vector>

#include "kernels/device/platform.hpp"

namespace facesat::gpu {

struct CoreMatrices {
  std::uint32_t of[4];
};

// Where a matrix lies: its address, and how many bytes after a core matrix the one below it begins,
// and the one to its right.
struct ByteMatrix {
  unsigned address, below, right;
};

#if defined(FACESAT_SIMT)
// ---- on the host. What is undefined on a GPU is reported: lanes that are missing, rows that do
// not begin on 16 bytes, and shared memory that was never written.

inline CoreMatrices load_core_matrices(const DynamicShared<std::uint32_t>& shared,
                                       unsigned address) {
  if (address % 16 != 0)
    simt::undefined("a row of a core matrix does not begin on a 16-byte boundary");
  const std::uint64_t* rows = simt::exchange(simt::WarpOperation::load_core_matrices, ~0u, address);
  const unsigned lane = simt::lane_index();
  CoreMatrices matrices;
  for (unsigned i = 0; i < 4; ++i)
    matrices.of[i] = shared.at(static_cast<unsigned>(rows[8 * i + lane / 4]) + 4 * (lane % 4));
  return matrices;
}

template <class Sum>
void multiply_add(Sum (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  using ByteOfB = std::conditional_t<std::is_signed_v<Sum>, std::int8_t, std::uint8_t>;
  constexpr int words = 6;
  const std::uint32_t mine[words] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  std::uint32_t all[32][words];  // of each lane
  for (int i = 0; i < words; i += 2) {
    const std::uint64_t* pairs = simt::exchange(simt::WarpOperation::multiply_add, ~0u,
                                                mine[i] | std::uint64_t{mine[i + 1]} << 32);
    for (int lane = 0; lane < 32; ++lane) {
      all[lane][i] = static_cast<std::uint32_t>(pairs[lane]);
      all[lane][i + 1] = static_cast<std::uint32_t>(pairs[lane] >> 32);
    }
  }
  const auto lane = static_cast<int>(simt::lane_index());
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 32; ++k) {
      const int part = k % 16 / 4, shift = k % 4 * 8;
      const std::uint32_t in_a = all[row % 8 * 4 + part][row / 8 + k / 16 * 2],
                          in_b = all[column * 4 + part][4 + k / 16];
      sums[i] += static_cast<Sum>(in_a >> shift & 255) * static_cast<ByteOfB>(in_b >> shift & 255);
    }
  }
}

inline void multiply_add(double (&sums)[2], double a, double b) {
  const auto gather = [](double mine, double(&all)[32]) {
    const std::uint64_t* values =
        simt::exchange(simt::WarpOperation::multiply_add, ~0u, simt::to_bits(mine));
    for (int lane = 0; lane < 32; ++lane) all[lane] = simt::from_bits<double>(values[lane]);
  };
  double in_a[32], in_b[32];
  gather(a, in_a);
  gather(b, in_b);
  const auto lane = static_cast<int>(simt::lane_index());
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k)
      sums[i] = std::fma(in_a[lane / 4 * 4 + k], in_b[(lane % 4 * 2 + i) * 4 + k], sums[i]);
}

inline constexpr bool has_warpgroup_products = true;
inline void publish_matrices() {}

template <int n>
void multiply_by_warpgroup(const DynamicShared<std::uint32_t>& shared, std::int32_t (&sums)[n][4],
                           const ByteMatrix& a, const ByteMatrix& b, int steps) {
  if (simt::block_size().x % 128 != 0) simt::undefined("a block does not consist of warpgroups");
  if ((a.address | a.below | a.right | b.address | b.below | b.right) % 16 != 0)
    simt::undefined("a core matrix does not begin on a 16-byte boundary");
  simt::exchange(simt::WarpOperation::multiply_add, ~0u, 0);  // all lanes are here
  const auto lane = static_cast<int>(simt::lane_index());
  const int warp = static_cast<int>(simt::thread_index().x) / 32 % 4;
  const auto words_of = [&](const ByteMatrix& matrix, int row) {
    std::vector<std::uint32_t> words;
    for (int word = 0; word < steps * 8; ++word)
      words.push_back(shared.at(matrix.address + static_cast<unsigned>(row / 8) * matrix.below +
                                static_cast<unsigned>(word / 4) * matrix.right +
                                static_cast<unsigned>(row % 8 * 16 + word % 4 * 4)));
    return words;
  };
  for (int side = 0; side < 2 * n; ++side) {
    const std::vector<std::uint32_t> column = words_of(b, side / 2 * 8 + lane % 4 * 2 + side % 2);
    for (int half = 0; half < 2; ++half) {
      const std::vector<std::uint32_t> row = words_of(a, warp * 16 + lane / 4 + half * 8);
      std::int32_t& sum = sums[side / 2][half * 2 + side % 2];
      sum = 0;
      for (std::size_t k = 0; k < 4 * row.size(); ++k)
        sum += static_cast<std::int32_t>(row[k / 4] >> k % 4 * 8 & 255) *
               static_cast<std::int8_t>(column[k / 4] >> k % 4 * 8 & 255);
    }
  }
}

template <int n, int steps>
void multiply_rows_by_warps(const DynamicShared<std::uint32_t>& shared, std::int32_t (&sums)[n][4],
                            const std::uint32_t (&rows)[steps][4], const ByteMatrix& b, bool adds);

template <int n, int steps>
void multiply_rows_by_warpgroup(const DynamicShared<std::uint32_t>& shared,
                                std::int32_t (&sums)[n][4], const std::uint32_t (&rows)[steps][4],
                                const ByteMatrix& b, bool adds) {
  if (simt::block_size().x % 128 != 0) simt::undefined("a block does not consist of warpgroups");
  if ((b.address | b.below | b.right) % 16 != 0)
    simt::undefined("a core matrix does not begin on a 16-byte boundary");
  multiply_rows_by_warps(shared, sums, rows, b, adds);
}

#elif defined(__CUDACC__)
// ---- on a GPU

__device__ __forceinline__ CoreMatrices load_core_matrices(const DynamicShared<std::uint32_t>&,
                                                           unsigned address) {
  CoreMatrices matrices;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices.of[0]), "=r"(matrices.of[1]), "=r"(matrices.of[2]),
                 "=r"(matrices.of[3])
               : "r"(address)
               : "memory");
  return matrices;
}

// Compute capability 7.5 multiplies 8 rows by 16 bytes; its lanes hold the same parts.
#if __CUDA_ARCH__ >= 800
#define FACESAT_MULTIPLY(byte_of_b)                                \
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8." byte_of_b        \
      ".s32 {%0, %1, %2, %3}, "                                    \
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]) \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#else
#define FACESAT_MULTIPLY(byte_of_b)                        \
  for (int i = 0; i < 4; ++i)                              \
  asm("mma.sync.aligned.m8n8k16.row.col.s32.u8." byte_of_b \
      ".s32 {%0, %1}, {%2}, {%3}, "                        \
      "{%0, %1};"                                          \
      : "+r"(sums[i % 2 * 2]), "+r"(sums[i % 2 * 2 + 1])   \
      : "r"(a[i]), "r"(b[i / 2]))
#endif
__device__ __forceinline__ void multiply_add(std::int32_t (&sums)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  FACESAT_MULTIPLY("s8");
}
__device__ __forceinline__ void multiply_add(std::uint32_t (&sums)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  FACESAT_MULTIPLY("u8");
}
#undef FACESAT_MULTIPLY

__device__ __forceinline__ void multiply_add(double (&sums)[2], double a, double b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sums[0]), "+d"(sums[1])
      : "d"(a), "d"(b));
#else
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int k = 0; k < 4; ++k) {
    const double of_row = __shfl_sync(~0u, a, lane / 4 * 4 + k);
    for (int i = 0; i < 2; ++i)
      sums[i] = fma(of_row, __shfl_sync(~0u, b, (lane % 4 * 2 + i) * 4 + k), sums[i]);
  }
#endif
}

// Makes what this thread has written to shared memory visible to multiply_by_warpgroup().
__device__ __forceinline__ void publish_matrices() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool has_warpgroup_products = true;

// How wgmma reads a matrix, without swizzling. Its lowest bits count 16 bytes; they may be added
// to.
__device__ __forceinline__ std::uint64_t descriptor_of(const ByteMatrix& matrix) {
  return (matrix.address & 0x3FFFF) >> 4 | static_cast<std::uint64_t>(matrix.right >> 4) << 16 |
         static_cast<std::uint64_t>(matrix.below >> 4) << 32;
}

// sums += A * B, or sums = A * B; to be waited for.
#define FACESAT_SUMS(j) "+r"(sums[j][0]), "+r"(sums[j][1]), "+r"(sums[j][2]), "+r"(sums[j][3])
__device__ __forceinline__ void warpgroup_multiply_add(std::int32_t (&sums)[4][4], std::uint64_t a,
                                                       std::uint64_t b, bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
      "%16, %17, adds;\n}"
      : FACESAT_SUMS(0), FACESAT_SUMS(1), FACESAT_SUMS(2), FACESAT_SUMS(3)
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
__device__ __forceinline__ void warpgroup_multiply_add(std::int32_t (&sums)[6][4], std::uint64_t a,
                                                       std::uint64_t b, bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %26, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n48k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23}, "
      "%24, %25, adds;\n}"
      : FACESAT_SUMS(0), FACESAT_SUMS(1), FACESAT_SUMS(2), FACESAT_SUMS(3), FACESAT_SUMS(4),
        FACESAT_SUMS(5)
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
__device__ __forceinline__ void warpgroup_multiply_add(std::int32_t (&sums)[8][4], std::uint64_t a,
                                                       std::uint64_t b, bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, adds;\n}"
      : FACESAT_SUMS(0), FACESAT_SUMS(1), FACESAT_SUMS(2), FACESAT_SUMS(3), FACESAT_SUMS(4),
        FACESAT_SUMS(5), FACESAT_SUMS(6), FACESAT_SUMS(7)
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
// The same with the rows of A in registers.
__device__ __forceinline__ void warpgroup_multiply_add(std::int32_t (&sums)[6][4],
                                                       const std::uint32_t (&a)[4], std::uint64_t b,
                                                       bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %29, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n48k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23}, "
      "{%24, %25, %26, %27}, %28, adds;\n}"
      : FACESAT_SUMS(0), FACESAT_SUMS(1), FACESAT_SUMS(2), FACESAT_SUMS(3), FACESAT_SUMS(4),
        FACESAT_SUMS(5)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(adds)));
}
__device__ __forceinline__ void warpgroup_multiply_add(std::int32_t (&sums)[12][4],
                                                       const std::uint32_t (&a)[4], std::uint64_t b,
                                                       bool adds) {
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %53, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n96k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, "
      "{%48, %49, %50, %51}, %52, adds;\n}"
      : FACESAT_SUMS(0), FACESAT_SUMS(1), FACESAT_SUMS(2), FACESAT_SUMS(3), FACESAT_SUMS(4),
        FACESAT_SUMS(5), FACESAT_SUMS(6), FACESAT_SUMS(7), FACESAT_SUMS(8), FACESAT_SUMS(9),
        FACESAT_SUMS(10), FACESAT_SUMS(11)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(adds)));
}
#undef FACESAT_SUMS

__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
template <int n>
__device__ __forceinline__ void wait_for_products(std::int32_t (&sums)[n][4]) {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  // Keeps the compiler from reading sums before that.
  FACESAT_UNROLL
  for (int k = 0; k < n * 4; ++k) asm volatile("" : "+r"(sums[k / 4][k % 4])::"memory");
}

template <int n>
__device__ __forceinline__ void multiply_by_warpgroup(const DynamicShared<std::uint32_t>&,
                                                      std::int32_t (&sums)[n][4],
                                                      const ByteMatrix& a, const ByteMatrix& b,
                                                      int steps) {
  std::uint64_t rows = descriptor_of(a), columns = descriptor_of(b);
  begin_products();
  for (int step = 0; step < steps; ++step) {
    warpgroup_multiply_add(sums, rows, columns, step > 0);
    rows += 2 * (a.right >> 4);
    columns += 2 * (b.right >> 4);
  }
  wait_for_products(sums);
}

template <int n, int steps>
__device__ __forceinline__ void multiply_rows_by_warpgroup(const DynamicShared<std::uint32_t>&,
                                                           std::int32_t (&sums)[n][4],
                                                           const std::uint32_t (&rows)[steps][4],
                                                           const ByteMatrix& b, bool adds) {
  std::uint64_t columns = descriptor_of(b);
  begin_products();
  FACESAT_UNROLL
  for (int step = 0; step < steps; ++step) {
    warpgroup_multiply_add(sums, rows[step], columns, adds || step > 0);
    columns += 2 * (b.right >> 4);
  }
  wait_for_products(sums);
}

#else
inline constexpr bool has_warpgroup_products = false;

template <int n>
__device__ void multiply_by_warpgroup(const DynamicShared<std::uint32_t>&, std::int32_t (&)[n][4],
                                      const ByteMatrix&, const ByteMatrix&, int) {
  __trap();
}
template <int n, int steps>
__device__ void multiply_rows_by_warpgroup(const DynamicShared<std::uint32_t>&,
                                           std::int32_t (&)[n][4],
                                           const std::uint32_t (&)[steps][4], const ByteMatrix&,
                                           bool) {
  __trap();
}
#endif

#endif

#if defined(FACESAT_SIMT) || defined(__CUDACC__)
// ---- on both

// sums = A * B, for A of 64 rows of unsigned bytes and B of 8 * n columns of signed bytes, which
// are the rows of `b`. Rows have 32 * steps bytes. Warp w of a warpgroup has, in [j], rows 16 * w
// to 16 * w + 15 and columns 8 * j to 8 * j + 7, in the order of multiply_add(). n must be even.
template <int n>
__device__ __forceinline__ void multiply_by_warps(const DynamicShared<std::uint32_t>& shared,
                                                  std::int32_t (&sums)[n][4], const ByteMatrix& a,
                                                  const ByteMatrix& b, int steps) {
  FACESAT_UNROLL
  for (int k = 0; k < n * 4; ++k) sums[k / 4][k % 4] = 0;
  constexpr unsigned row_bytes = 16;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const unsigned number = lane / 8, row = lane % 8;
  // Four core matrices of A are 16 rows by 32 bytes; of B, two groups of 8 columns by 32 bytes.
  unsigned at_a = a.address + (2 * warp + number % 2) * a.below + number / 2 * a.right +
                  row * row_bytes,
           at_b = b.address + number / 2 * b.below + number % 2 * b.right + row * row_bytes;
  for (int step = 0; step < steps; ++step) {
    const CoreMatrices rows = load_core_matrices(shared, at_a);
    FACESAT_UNROLL
    for (int j = 0; j < n; j += 2) {
      const CoreMatrices columns =
          load_core_matrices(shared, at_b + static_cast<unsigned>(j) * b.below);
      multiply_add(sums[j], rows.of, {columns.of[0], columns.of[1]});
      multiply_add(sums[j + 1], rows.of, {columns.of[2], columns.of[3]});
    }
    at_a += 2 * a.right;
    at_b += 2 * b.right;
  }
}

// sums = A * B, or sums += A * B if `adds`, for B as above and an A whose rows the lanes hold:
// rows[k] is that of step k as multiply_add() takes it.
template <int n, int steps>
__device__ __forceinline__ void multiply_rows_by_warps(const DynamicShared<std::uint32_t>& shared,
                                                       std::int32_t (&sums)[n][4],
                                                       const std::uint32_t (&rows)[steps][4],
                                                       const ByteMatrix& b, bool adds) {
  FACESAT_UNROLL
  for (int k = 0; k < n * 4; ++k) sums[k / 4][k % 4] = adds ? sums[k / 4][k % 4] : 0;
  constexpr unsigned row_bytes = 16;
  const unsigned number = threadIdx.x % 32 / 8, row = threadIdx.x % 8;
  unsigned at = b.address + number / 2 * b.below + number % 2 * b.right + row * row_bytes;
  FACESAT_UNROLL
  for (int step = 0; step < steps; ++step, at += 2 * b.right) {
    FACESAT_UNROLL
    for (int j = 0; j < n; j += 2) {
      const CoreMatrices columns =
          load_core_matrices(shared, at + static_cast<unsigned>(j) * b.below);
      multiply_add(sums[j], rows[step], {columns.of[0], columns.of[1]});
      multiply_add(sums[j + 1], rows[step], {columns.of[2], columns.of[3]});
    }
  }
}

#endif

}  // namespace facesat::gpu

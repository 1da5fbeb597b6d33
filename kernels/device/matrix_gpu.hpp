// kernels/device/matrix.hpp on a GPU.
#pragma once

namespace facesat::gpu {

__device__ __forceinline__ ByteTiles load_tiles(const DynamicShared<std::uint32_t>&,
                                                unsigned address) {
  ByteTiles tiles;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(tiles.of[0]), "=r"(tiles.of[1]), "=r"(tiles.of[2]), "=r"(tiles.of[3])
               : "r"(address)
               : "memory");
  return tiles;
}

__device__ __forceinline__ void multiply_add(std::int32_t (&sums)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  // Compute capability 7.5 multiplies 8 rows by 16 bytes; its lanes hold the same parts.
  const auto quarter = [](std::int32_t& first, std::int32_t& second, std::uint32_t rows,
                          std::uint32_t columns) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(first), "+r"(second)
        : "r"(rows), "r"(columns));
  };
  for (int half = 0; half < 2; ++half) {
    quarter(sums[0], sums[1], a[2 * half], b[half]);
    quarter(sums[2], sums[3], a[2 * half + 1], b[half]);
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

}  // namespace facesat::gpu

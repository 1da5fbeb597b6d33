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

}  // namespace facesat::gpu

// kernels/device/matrix.hpp on the host. What is undefined on a GPU is reported: lanes that are
// missing, rows that do not begin on 16 bytes, and shared memory that was never written.
#pragma once

#include <vector>

namespace facesat::gpu {

inline ByteTiles load_tiles(const DynamicShared<std::uint32_t>& shared, unsigned address) {
  if (address % 16 != 0) simt::undefined("a row of a tile does not begin on a 16-byte boundary");
  const std::uint64_t* rows = simt::exchange(simt::WarpOperation::load_tiles, ~0u, address);
  const unsigned lane = simt::lane_index();
  ByteTiles tiles;
  for (unsigned i = 0; i < 4; ++i)
    tiles.of[i] = shared.at(static_cast<unsigned>(rows[8 * i + lane / 4]) + 4 * (lane % 4));
  return tiles;
}

inline void multiply_add(std::int32_t (&sums)[4], const std::uint32_t (&a)[4],
                         const std::uint32_t (&b)[2]) {
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
      sums[i] += static_cast<std::int32_t>(in_a >> shift & 255) *
                 static_cast<std::int8_t>(in_b >> shift & 255);
    }
  }
}

inline constexpr bool has_warpgroup_products = true;
inline void publish_matrices() {}

template <int n>
void multiply_by_warpgroup(const DynamicShared<std::uint32_t>& shared, std::int32_t (&sums)[n][4],
                           const ByteMatrix& a, const ByteMatrix& b, int steps) {
  if (simt::block_size().x % 128 != 0) simt::undefined("a block does not consist of warpgroups");
  if ((a.address | a.below | a.right | b.address | b.below | b.right) % 16 != 0)
    simt::undefined("a tile does not begin on a 16-byte boundary");
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
    simt::undefined("a tile does not begin on a 16-byte boundary");
  multiply_rows_by_warps(shared, sums, rows, b, adds);
}

}  // namespace facesat::gpu

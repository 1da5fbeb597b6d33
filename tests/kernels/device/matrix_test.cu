// Products of matrices of bytes and of doubles, on tensor cores and on the host, against the
// definition.
#include <random>

#include "kernels/device/matrix.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

constexpr int rows = 16, depth = 32, columns = 8;

// A warp computes sums += A * B. Rows of A and columns of B lie one after the other, in two core
// matrices each: the first 16 bytes of all of them, then the others.
template <class Sum>
__global__ void multiply_kernel(const std::uint32_t* a, const std::uint32_t* b, Sum* sums) {
  const gpu::DynamicShared<std::uint32_t> shared;
  const int lane = static_cast<int>(threadIdx.x);
  constexpr int words_of_a = rows * depth / 4, words_of_b = columns * depth / 4;
  for (int i = lane; i < words_of_a; i += 32) shared[i] = a[i];
  for (int i = lane; i < words_of_b; i += 32) shared[words_of_a + i] = b[i];
  __syncthreads();
  const auto row = static_cast<unsigned>(lane % 8), number = static_cast<unsigned>(lane / 8);
  const gpu::CoreMatrices in_a = gpu::load_core_matrices(
      shared, shared.address() + (number / 2 * rows + number % 2 * 8 + row) * 16);
  const gpu::CoreMatrices in_b = gpu::load_core_matrices(
      shared, shared.address() + words_of_a * 4 + (number % 2 * columns + row) * 16);
  const std::uint32_t columns_of_b[2] = {in_b.of[0], in_b.of[1]};
  Sum mine[4];
  for (int i = 0; i < 4; ++i) mine[i] = sums[lane * 4 + i];
  gpu::multiply_add(mine, in_a.of, columns_of_b);
  for (int i = 0; i < 4; ++i) sums[lane * 4 + i] = mine[i];
}

// A warp computes sums += A * B, for an element of A and one of B per lane.
__global__ void multiply_doubles_kernel(const double* a, const double* b, double* sums) {
  const int lane = static_cast<int>(threadIdx.x);
  double mine[2] = {sums[2 * lane], sums[2 * lane + 1]};
  gpu::multiply_add(mine, a[lane], b[lane]);
  sums[2 * lane] = mine[0];
  sums[2 * lane + 1] = mine[1];
}

// A warpgroup computes sums = A * B, for 64 rows and 64 columns of 96 bytes, in 16-byte rows.
constexpr int many_rows = 64, many_columns = 64, steps = 3;
using ManySums = std::int32_t[many_columns / 8][4];

// Where the rows of A come from, and who multiplies.
enum class By { warps, warpgroup, warps_with_rows, warpgroup_with_rows };

// Rows of A in registers, from the given step on.
template <int count>
__device__ void load_rows(const gpu::DynamicShared<std::uint32_t>& shared, int first,
                          std::uint32_t (&held)[count][4]) {
  const int thread = static_cast<int>(threadIdx.x), row = thread / 32 * 16 + thread % 32 / 4;
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < 4; ++i)
      held[k][i] =
          shared[(((first + k) * 2 + i / 2) * many_rows + row + i % 2 * 8) * 4 + thread % 4];
}

template <By by>
__global__ void multiply_many_kernel(const std::uint32_t* a, const std::uint32_t* b,
                                     std::int32_t* sums) {
  const gpu::DynamicShared<std::uint32_t> shared;
  const int thread = static_cast<int>(threadIdx.x);
  constexpr int words_of_a = many_rows * steps * 8, words_of_b = many_columns * steps * 8;
  for (int i = thread; i < words_of_a; i += 128) shared[i] = a[i];
  for (int i = thread; i < words_of_b; i += 128) shared[words_of_a + i] = b[i];
  gpu::publish_matrices();
  __syncthreads();
  // In A, tiles follow each other from the top down; in B, from left to right.
  const gpu::ByteMatrix in_a{shared.address(), 8 * 16, many_rows * 16},
      in_b{shared.address() + words_of_a * 4, 8 * steps * 32, 8 * 16};
  ManySums mine;
  if constexpr (by == By::warpgroup) {
    gpu::multiply_by_warpgroup(shared, mine, in_a, in_b, steps);
  } else if constexpr (by == By::warps) {
    gpu::multiply_by_warps(shared, mine, in_a, in_b, steps);
  } else {
    std::uint32_t first[1][4], others[steps - 1][4];
    load_rows(shared, 0, first);
    load_rows(shared, 1, others);
    const gpu::ByteMatrix later{in_b.address + 2 * in_b.right, in_b.below, in_b.right};
    if constexpr (by == By::warps_with_rows) {
      gpu::multiply_rows_by_warps(shared, mine, first, in_b, false);
      gpu::multiply_rows_by_warps(shared, mine, others, later, true);
    } else {
      gpu::multiply_rows_by_warpgroup(shared, mine, first, in_b, false);
      gpu::multiply_rows_by_warpgroup(shared, mine, others, later, true);
    }
  }
  for (int i = 0; i < static_cast<int>(sizeof mine / 4); ++i)
    sums[thread * (sizeof mine / 4) + i] = mine[i / 4][i % 4];
}

template <class Byte>
std::vector<std::uint32_t> words_of(const std::vector<Byte>& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

template <class Sum, class ByteOfB>
void check_products() {
  std::mt19937 random(1);
  for (int run = 0; run < 4; ++run) {
    std::vector<std::uint8_t> a(rows * depth);
    std::vector<ByteOfB> b(columns * depth);
    // The last run has the largest values.
    constexpr ByteOfB largest = std::is_signed_v<ByteOfB> ? -128 : 255;
    for (auto& value : a) value = static_cast<std::uint8_t>(run == 3 ? 255 : random());
    for (auto& value : b) value = run == 3 ? largest : static_cast<ByteOfB>(random() % 256);
    std::vector<Sum> sums(32 * 4);
    for (auto& value : sums) value = static_cast<Sum>(random());
    if (std::is_unsigned_v<Sum>) sums[5] = ~Sum{};  // wraps
    std::vector<Sum> expected = sums;
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < depth; ++k) {
          const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
          Sum& sum = expected[lane * 4 + i];
          sum = static_cast<Sum>(
              static_cast<std::uint32_t>(sum) +
              static_cast<std::uint32_t>(a[(k / 16 * rows + row) * 16 + k % 16] *
                                         b[(k / 16 * columns + column) * 16 + k % 16]));
        }
    DeviceArray<std::uint32_t> device_a(words_of(a)), device_b(words_of(b));
    DeviceArray<Sum> device_sums(sums);
    const std::uint32_t *const at_a = device_a.data(), *const at_b = device_b.data();
    Sum* const at_sums = device_sums.data();
    FACESAT_LAUNCH_SHARED(multiply_kernel<Sum>, dim3(1), dim3(32), (rows + columns) * depth,
                          test_stream(), at_a, at_b, at_sums);
    EXPECT_EQ(device_sums.download(), expected);
  }
}

TEST(Matrix, ProductsOfBytes) {
  check_products<std::int32_t, std::int8_t>();
}
TEST(Matrix, ProductsOfUnsignedBytes) {
  check_products<std::uint32_t, std::uint8_t>();
}

// A has rows of 4, B has columns of 4, sums have rows of 8. All values are integers below 2^26, so
// that every sum is exact.
TEST(Matrix, ProductsOfDoubles) {
  std::mt19937 random(3);
  const auto integers = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = static_cast<double>(random() >> 6) - (1 << 25);
    return values;
  };
  const std::vector<double> a = integers(32), b = integers(32), sums = integers(64);
  std::vector<double> expected = sums;
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column)
      for (int k = 0; k < 4; ++k) expected[row * 8 + column] += a[row * 4 + k] * b[column * 4 + k];
  DeviceArray<double> device_a(a), device_b(b), device_sums(sums);
  const double *const at_a = device_a.data(), *const at_b = device_b.data();
  double* const at_sums = device_sums.data();
  FACESAT_LAUNCH(multiply_doubles_kernel, dim3(1), dim3(32), test_stream(), at_a, at_b, at_sums);
  EXPECT_EQ(device_sums.download(), expected);
}

TEST(Matrix, ProductsByWarpgroups) {
  std::mt19937 random(2);
  std::vector<std::uint8_t> a(many_rows * steps * 32);
  std::vector<std::int8_t> b(many_columns * steps * 32);
  for (auto& value : a) value = static_cast<std::uint8_t>(random());
  for (auto& value : b) value = static_cast<std::int8_t>(random() % 256);
  std::vector<std::int32_t> expected;
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < 32; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8,
                column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      std::int32_t& sum = expected.emplace_back(0);
      for (int k = 0; k < steps * 32; ++k)
        sum += a[(k / 16 * many_rows + row) * 16 + k % 16] *
               b[((column / 8 * steps * 2 + k / 16) * 8 + column % 8) * 16 + k % 16];
    }
  DeviceArray<std::uint32_t> device_a(words_of(a)), device_b(words_of(b));
  DeviceArray<std::int32_t> device_sums(std::vector<std::int32_t>(128 * 32));
  const std::uint32_t *const at_a = device_a.data(), *const at_b = device_b.data();
  std::int32_t* const at_sums = device_sums.data();
  const auto launch = [&](auto* kernel) {
    FACESAT_LAUNCH_SHARED(kernel, dim3(1), dim3(128), (many_rows + many_columns) * steps * 32,
                          test_stream(), at_a, at_b, at_sums);
    EXPECT_EQ(device_sums.download(), expected);
    device_sums.upload(std::vector<std::int32_t>(128 * 32));
  };
  launch(multiply_many_kernel<By::warps>);
  launch(multiply_many_kernel<By::warps_with_rows>);
  if constexpr (!on_gpu) {  // GPUs have the others only for the shapes that stages use
    launch(multiply_many_kernel<By::warpgroup>);
    launch(multiply_many_kernel<By::warpgroup_with_rows>);
  }
}

}  // namespace
}  // namespace facesat::test

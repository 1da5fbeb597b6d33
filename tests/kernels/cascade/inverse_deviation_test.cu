// The standard deviation of a window as kernels compute it, against the rule.
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/cascade/tile.cuh"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

__global__ void inverse_deviation_kernel(const std::int64_t* spreads, float* results, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) results[i] = gpu::inverse_deviation(spreads[i]);
}

// Small spreads, large ones, and those whose result is close to the middle between two f32 values.
std::vector<std::int64_t> test_spreads() {
  std::vector<std::int64_t> spreads;
  for (std::int64_t i = 1; i <= 20000; ++i) spreads.push_back(i);
  for (std::int64_t i = 0; i < 20000; ++i) spreads.push_back((std::int64_t{1} << 40) - 7 * i * i);
  for (int i = 0; i < 200000; ++i) {
    const double middle = std::ldexp(16777217.0 + 2 * (i * 83 % 16777216), -25 - i % 20);
    spreads.push_back(std::max<std::int64_t>(1, std::llround(1 / (middle * middle))));
  }
  return spreads;
}

TEST(InverseDeviation, EqualsTheRule) {
  const std::vector<std::int64_t> spreads = test_spreads();
  const int count = static_cast<int>(spreads.size());
  DeviceArray<std::int64_t> input(spreads);
  DeviceArray<float> output(std::vector<float>(spreads.size(), -1));
  const std::int64_t* const from = input.data();
  float* const to = output.data();
  FACESAT_LAUNCH(inverse_deviation_kernel, dim3(static_cast<unsigned>(divide_up(count, 256))),
                 dim3(256), test_stream(), from, to, count);
  const std::vector<float> results = output.download();
  for (std::size_t i = 0; i < spreads.size(); ++i)
    ASSERT_EQ(results[i], rules::inverse_deviation(spreads[i])) << spreads[i];
}

}  // namespace
}  // namespace facesat::test

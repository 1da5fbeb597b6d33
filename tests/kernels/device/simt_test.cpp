// The execution of kernels on the host: code that works on a GPU works here, and behaviour that is
// undefined on a GPU is refused.
#include "kernels/device/simt/simt.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/matrix.hpp"
#include "kernels/device/platform.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::test {
namespace {

using gpu::part_barrier;
using gpu::SharedArray;

// The order of blocks, the seed of random orders, the number of blocks in flight.
const simt::Schedule schedules[] = {{simt::Order::forward, 1, 1},
                                    {simt::Order::reverse, 1, 1},
                                    {simt::Order::random, 1, 3},
                                    {simt::Order::random, 2, 5},
                                    {simt::Order::random, 3, 2}};

// Runs `body` under every schedule: results and refusals must not depend on it.
template <class Body>
void under_all_schedules(Body body) {
  for (const simt::Schedule& schedule : schedules) {
    simt::set_schedule(schedule);
    body();
  }
  simt::set_schedule({});
}

// Runs a kernel that is expected to be refused; returns the reason, empty if it was not.
template <class Kernel>
std::string refusal(unsigned blocks, unsigned threads, Kernel kernel) {
  constexpr std::size_t shared_bytes = 1024;
  return message_of<simt::Undefined>(
      [&] { simt::launch("kernel", blocks, threads, kernel, shared_bytes); });
}

void expect_refusal(unsigned blocks, unsigned threads, const std::string& words,
                    const std::function<void()>& kernel) {
  under_all_schedules([&] { EXPECT_TRUE(has(refusal(blocks, threads, kernel), words)); });
}

// Each block reverses its part of the data through shared memory.
void reverse_blocks(std::vector<int>& data) {
  __shared__ SharedArray<int, 64> part;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  part[static_cast<int>(threadIdx.x)] = data[i];
  __syncthreads();
  data[i] = part[static_cast<int>(blockDim.x - 1 - threadIdx.x)];
}

TEST(Simt, BarriersAndSharedMemory) {
  under_all_schedules([] {
    std::vector<int> data(64 * 7);
    std::iota(data.begin(), data.end(), 0);
    simt::launch("reverse_blocks", 7, 64, [&] { reverse_blocks(data); });
    for (int i = 0; i < static_cast<int>(data.size()); ++i)
      ASSERT_EQ(data[i], i / 64 * 64 + 63 - i % 64);
  });
}

TEST(Simt, ShufflesAndBallots) {
  under_all_schedules([] {
    std::vector<unsigned> sums(64), votes(64), swapped(64);
    simt::launch("scan", 1, 64, [&] {
      unsigned sum = threadIdx.x + 1;
      for (unsigned d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_up_sync(~0u, sum, d);
        if (threadIdx.x % 32 >= d) sum += other;
      }
      sums[threadIdx.x] = sum;
      votes[threadIdx.x] = __ballot_sync(~0u, threadIdx.x % 3 == 0);
      if (threadIdx.x % 32 < 4) swapped[threadIdx.x] = __shfl_xor_sync(0xFu, threadIdx.x, 1);
    });
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned first = i / 32 * 32, lane = i % 32;
      EXPECT_EQ(sums[i], (lane + 1) * first + (lane + 1) * (lane + 2) / 2);
      // Every third thread of the block voted.
      EXPECT_EQ(votes[i], first == 0 ? 0x49249249u : 0x92492492u);
      if (lane < 4) {
        EXPECT_EQ(swapped[i], i ^ 1);
      }
    }
  });
}

// Each block takes a ticket and waits for the block with the previous one: safe whatever the order
// in which blocks start.
TEST(Simt, WaitingByTicketEnds) {
  under_all_schedules([] {
    unsigned ticket = 0;
    std::vector<unsigned long long> done(9, 0);
    simt::launch("chain", 8, 32, [&] {
      __shared__ SharedArray<unsigned, 1> mine;
      if (threadIdx.x == 0) mine[0] = atomicAdd(&ticket, 1u);
      __syncthreads();
      const unsigned t = mine[0];
      while (t > 0 && gpu::load_relaxed(&done[t - 1]) == 0) gpu::pause();
      __syncthreads();
      if (threadIdx.x == 0) gpu::store_relaxed(&done[t], 1);
    });
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0ull), 8u);
  });
}

// Waiting for the block with the previous index is not safe: a GPU may start the last block first.
TEST(Simt, WaitingForABlockThatHasNotStartedIsRefused) {
  simt::set_schedule({simt::Order::reverse, 1, 1});
  std::vector<unsigned long long> done(8, 0);
  const std::string said = refusal(8, 32, [&] {
    const unsigned b = blockIdx.x;
    while (b > 0 && gpu::load_relaxed(&done[b - 1]) == 0) gpu::pause();
    gpu::store_relaxed(&done[b], 1);
  });
  EXPECT_NE(said.find("block (7, 0) waits for something that never comes"), std::string::npos)
      << said;
  simt::set_schedule({});
}

// A grid that a kernel launches starts after the kernel's own grid and after all that was launched
// before, including what that launched itself.
TEST(Simt, LaunchesByAKernelRunInOrderAfterIt) {
  under_all_schedules([] {
    std::vector<int> order;
    simt::launch("first", 2, 32, [&] {
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        simt::launch_after_grid("second", 3, 1, [&] {
          if (blockIdx.x == 0) simt::launch_after_grid("third", 1, 2, [&] { order.push_back(3); });
          order.push_back(2);
        });
        simt::launch_after_grid(
            "fourth", 1, 1,
            [&] {
              gpu::DynamicShared<int> shared;
              shared[1] = 4;
              order.push_back(shared[1]);
            },
            2 * sizeof(int));
      }
      __syncthreads();
      if (threadIdx.x == 0) order.push_back(1);
    });
    EXPECT_EQ(order, (std::vector{1, 1, 2, 2, 2, 3, 3, 4}));
  });
}

TEST(Simt, WhatAGpuDoesNotDefineIsRefused) {
  expect_refusal(2, 64, "wait at a barrier", [] {
    if (threadIdx.x < 40) __syncthreads();
  });
  expect_refusal(1, 96, "wait at a barrier", [] {
    if (threadIdx.x < 32) part_barrier(64);
  });
  expect_refusal(1, 96, "whole warps", [] { part_barrier(40); });
  expect_refusal(1, 96, "a thread waits for", [] { part_barrier(threadIdx.x < 32 ? 96 : 128); });
  expect_refusal(1, 32, " ended", [] {
    if (threadIdx.x < 31) __syncwarp();
  });
  expect_refusal(1, 32, "is not in its own mask", [] { __syncwarp(0xFFFF); });
  expect_refusal(1, 20, "lanes that do not exist", [] { __syncwarp(); });
  expect_refusal(1, 32, "in another operation", [] {
    if (threadIdx.x < 16)
      __syncwarp();
    else
      __ballot_sync(~0u, true);
  });
  expect_refusal(1, 32, "outside its mask", [] {
    if (threadIdx.x < 16) __shfl_sync(0xFFFFu, 1, 20);
  });
  expect_refusal(1, 32, "unwritten shared", [] {
    __shared__ SharedArray<int, 32> values;
    if (threadIdx.x > 0) values[static_cast<int>(threadIdx.x)] = 1;
    __syncthreads();
    static_cast<void>(static_cast<int>(values[0]));
  });
  expect_refusal(1, 32, "outside its bounds", [] {
    __shared__ SharedArray<int, 32> values;
    values[static_cast<int>(threadIdx.x) + 1] = 1;
  });
}

TEST(Simt, MisusedMatricesAreRefused) {
  // 32 rows of 16 bytes; row 31 is written only if `all`.
  const auto load = [](bool all, unsigned offset) {
    const gpu::DynamicShared<std::uint32_t> rows;
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = 0; i < 4; ++i)
      if (all || lane < 31) rows[lane * 4 + i] = 1;
    __syncwarp();
    gpu::load_core_matrices(rows, rows.address() + threadIdx.x * 16 + offset);
  };
  EXPECT_EQ(refusal(1, 32, [&] { load(true, 0); }), "");
  expect_refusal(1, 32, "unwritten shared", [&] { load(false, 0); });
  expect_refusal(1, 32, "16-byte boundary", [&] { load(true, 4); });
  expect_refusal(1, 32, "outside its bounds", [&] { load(true, 1024); });
  expect_refusal(1, 16, "lanes that do not exist", [&] { load(true, 0); });
  const auto multiply = [] {
    std::int32_t sums[4] = {};
    gpu::multiply_add(sums, {1, 1, 1, 1}, {1, 1});
  };
  EXPECT_EQ(refusal(1, 32, multiply), "");
  expect_refusal(1, 32, "in another operation", [&] {
    if (threadIdx.x < 16)
      multiply();
    else
      __syncwarp();
  });
  expect_refusal(1, 32, "ended", [&] {
    if (threadIdx.x < 31) multiply();
  });
}

TEST(Simt, ABarrierTellsWhetherAnyThreadPassedTrue) {
  under_all_schedules([] {
    std::vector<int> answers(2 * 64);
    simt::launch("kernel", 1, 64, [&] {
      const auto thread = static_cast<int>(threadIdx.x);
      answers[thread] = __syncthreads_or(thread == 40);
      __syncthreads();
      answers[64 + thread] = __syncthreads_or(0);
    });
    EXPECT_EQ(std::accumulate(answers.begin(), answers.begin() + 64, 0), 64);
    EXPECT_EQ(std::accumulate(answers.begin() + 64, answers.end(), 0), 0);
  });
}

// The threads write and read shared memory without a barrier between: some thread reads an element
// before it is written.
TEST(Simt, AMissingBarrierIsFound) {
  expect_refusal(1, 64, "unwritten shared", [] {
    __shared__ SharedArray<int, 64> part;
    part[static_cast<int>(threadIdx.x)] = 1;
    static_cast<void>(static_cast<int>(part[63 - static_cast<int>(threadIdx.x)]));
  });
}

}  // namespace
}  // namespace facesat::test

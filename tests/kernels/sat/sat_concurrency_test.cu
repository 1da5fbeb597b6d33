// SAT algorithms whose blocks wait for each other must finish however few blocks are resident, and
// whatever else runs on the device.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/bench/sat_floor.hpp"
#include "kernels/bench/sat_place.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::test {
namespace {

using namespace std::chrono_literals;
using gpu::SatAlgorithm;
using gpu::SatPlace;
using gpu::SatType;

// held_at_most: the longest time for which HeldHalf holds its part of the device.
constexpr auto patience = 180s, held_at_most = 60s;

// Ends the program unless it is destroyed in time: a kernel that waits for ever cannot be stopped,
// and the calls that wait for it do not return.
class Watchdog {
 public:
  explicit Watchdog(std::string what)
      : thread_([this, what = std::move(what)] {
          std::unique_lock lock(mutex_);
          if (done_.wait_for(lock, patience, [this] { return is_done_; })) return;
          std::printf("[  FAILED  ] %s: deadlock, not finished in %d s\n", what.c_str(),
                      static_cast<int>(patience / 1s));
          std::fflush(stdout);
          std::_Exit(1);
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
    }
    done_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread thread_;
};

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void hold_kernel(volatile int* held, const volatile int* is_released,
                            unsigned long long at_most) {
  if (threadIdx.x == 0) {
    const unsigned long long begin = nanoseconds();
    held[blockIdx.x] = 1;
    __threadfence_system();
    while (!*is_released && nanoseconds() - begin < at_most) __nanosleep(1000);
  }
  __syncthreads();
}

// Occupies half of the multiprocessors, each with a sleeping block that takes the maximum of
// threads and shared memory per block.
class HeldHalf {
 public:
  // Returns when all blocks are resident.
  HeldHalf() : stream_(gpu::make_stream()) {
    int device = 0, multiprocessors = 0, shared_bytes = 0;
    FACESAT_CUDA(cudaGetDevice(&device));
    FACESAT_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    FACESAT_CUDA(
        cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const int blocks = std::max(multiprocessors / 2, 1);
    memory_ = gpu::PinnedBuffer<int>(static_cast<std::size_t>(blocks) + 1);
    std::fill_n(memory_.data(), memory_.size(), 0);
    is_released_ = memory_.data();
    volatile int* const held = is_released_ + 1;
    FACESAT_LAUNCH_SHARED(hold_kernel, dim3(static_cast<unsigned>(blocks)), dim3(1024),
                          shared_bytes, stream_.get(), held, is_released_,
                          std::chrono::nanoseconds(held_at_most).count());
    for (int block = 0; block < blocks; ++block)
      while (!held[block]) std::this_thread::sleep_for(100us);
  }
  ~HeldHalf() {
    *is_released_ = 1;
    cudaStreamSynchronize(stream_.get());
  }
  bool is_held() const {
    const cudaError_t status = cudaStreamQuery(stream_.get());
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      return true;
    }
    gpu::check(status, "cudaStreamQuery");
    return false;
  }

 private:
  gpu::PinnedBuffer<int> memory_;
  volatile int* is_released_ = nullptr;
  gpu::Stream stream_;
};

// A picture and its tables, a workspace and a stream of its own.
class Work {
 public:
  Work(const SatAlgorithm& sat, SatType type, Size size)
      : sat_(sat),
        stream_(gpu::make_stream()),
        place_(type, size, gpu::info_of(type).input_bytes == 1),
        workspace_(sat.workspace_bytes(type, size)),
        wrong_(1) {
    if (workspace_.size() > 0) FACESAT_CUDA(cudaMemset(workspace_.data(), 0, workspace_.bytes()));
    FACESAT_CUDA(cudaMemset(wrong_.data(), 0, wrong_.bytes()));
    FACESAT_CUDA(cudaDeviceSynchronize());
    gpu::enqueue_fill(place_.task(), static_cast<std::uint32_t>(size.width), stream_.get());
  }
  void enqueue() {
    place_.poison(stream_.get());
    gpu::SatTask task = place_.task();
    task.parameter = sat_.value;
    sat_.enqueue(task, workspace_.data(), stream_.get());
    gpu::enqueue_check(place_.task(), wrong_.data(), stream_.get());
  }
  // Waits for all enqueued work; returns the number of wrong elements since the beginning.
  unsigned wrong_elements() {
    unsigned wrong = 0;
    FACESAT_CUDA(cudaMemcpyAsync(&wrong, wrong_.data(), sizeof wrong, cudaMemcpyDeviceToHost,
                                 stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return wrong;
  }

 private:
  const SatAlgorithm& sat_;
  gpu::Stream stream_;
  SatPlace place_;
  gpu::Buffer<std::byte> workspace_;
  gpu::Buffer<unsigned> wrong_;
};

class SatConcurrency : public ::testing::TestWithParam<const SatAlgorithm*> {
 protected:
  const SatAlgorithm& sat = *GetParam();
  // Algorithms with one launch per anti-diagonal have no blocks that wait for each other; large
  // pictures with thousands of launches would only take long.
  const bool has_many_launches = sat.launches == 0;
};

TEST_P(SatConcurrency, FinishesOnHalfOfTheDevice) {
  std::vector<Size> sizes{{8192, 8192}, {32768, 1024}, {512, 32768}};  // many more tiles than fit
  if (has_many_launches) sizes = {{1024, 1024}};
  for (const SatType type : {SatType::u8_u32, SatType::f64_f64})
    for (const Size size : sizes) {
      const Watchdog watchdog(std::string(sat.id) + " on half of the device");
      Work work(sat, type, size);
      work.enqueue();  // loads the kernels: loading may wait for a running kernel
      ASSERT_EQ(work.wrong_elements(), 0u);
      const HeldHalf half;
      for (int round = 0; round < 3; ++round) work.enqueue();
      EXPECT_EQ(work.wrong_elements(), 0u)
          << gpu::info_of(type).name << " " << size.width << "x" << size.height;
      EXPECT_TRUE(half.is_held()) << "it finished only when the device was free again";
    }
}

TEST_P(SatConcurrency, TwoPicturesAtOnce) {
  for (const SatType type : {SatType::u8_u32, SatType::f64_f64}) {
    const Watchdog watchdog(std::string(sat.id) + " on two pictures at once");
    Work one(sat, type, {1920, 1080}), other(sat, type, {1283, 2049});
    const auto go = [&] {
      for (int left = has_many_launches ? 3 : 30; left > 0; --left) {
        one.enqueue();
        other.enqueue();
      }
      EXPECT_EQ(one.wrong_elements(), 0u) << gpu::info_of(type).name;
      EXPECT_EQ(other.wrong_elements(), 0u) << gpu::info_of(type).name;
    };
    go();
    const HeldHalf half;
    go();
    EXPECT_TRUE(half.is_held()) << "they finished only when the device was free again";
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, SatConcurrency,
                         ::testing::ValuesIn(gpu::sat_algorithms().begin(),
                                             gpu::sat_algorithms().end()),
                         [](const auto& tested) { return std::string(tested.param->id); });

}  // namespace
}  // namespace facesat::test

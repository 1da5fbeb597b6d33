// For tests that blocks which wait for each other finish whatever else runs on the device: a time
// limit, and a kernel that holds half of the multiprocessors.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "kernels/device/platform.hpp"

namespace facesat::test {

using namespace std::chrono_literals;

// held_at_most: the longest time for which HeldHalf holds its part of the device.
inline constexpr auto patience = 180s, held_at_most = 60s;

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

static __device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

static __global__ void hold_kernel(volatile int* held, const volatile int* is_released,
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

}  // namespace facesat::test

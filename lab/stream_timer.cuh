// Measures times on a GPU between two events of a stream.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/device/cuda.hpp"
#include "kernels/device/stream.hpp"
#include "lab/measure.hpp"

namespace facesat::lab {

// Keeps the stream busy until everything after it is enqueued.
static __global__ void wait_kernel(int microseconds) {
  for (int i = 0; i < microseconds; ++i) __nanosleep(1000);
}

class StreamTimer {
 public:
  gpu::StreamHandle stream() const { return stream_.get(); }

  // The time of what `enqueue` puts into the stream, in microseconds. The time between launches is
  // the device's and not the host's if there are few: all are enqueued before the first one may
  // start, about 4 us for each. Many launches are not waited for.
  template <class Enqueue>
  double us(int launches, Enqueue enqueue) {
    if (launches <= 64) wait_kernel<<<1, 1, 0, stream()>>>(10 + 4 * launches);
    return 1e6 * seconds(enqueue);
  }

  // The same in seconds, without a wait before it.
  template <class Enqueue>
  double seconds(Enqueue enqueue) {
    FACESAT_CUDA(cudaEventRecord(before_.get(), stream()));
    enqueue();
    FACESAT_CUDA(cudaEventRecord(after_.get(), stream()));
    FACESAT_CUDA(cudaEventSynchronize(after_.get()));
    float ms = 0;
    FACESAT_CUDA(cudaEventElapsedTime(&ms, before_.get(), after_.get()));
    return ms / 1000.0;
  }

  // Does enqueue_check(wrong), which adds to the number *wrong in device memory, leave it at 0?
  template <class Check>
  bool finds_nothing_wrong(Check enqueue_check) {
    unsigned wrong = 0;
    FACESAT_CUDA(cudaMemsetAsync(wrong_.data(), 0, sizeof wrong, stream()));
    enqueue_check(wrong_.data());
    FACESAT_CUDA(
        cudaMemcpyAsync(&wrong, wrong_.data(), sizeof wrong, cudaMemcpyDeviceToHost, stream()));
    FACESAT_CUDA(cudaStreamSynchronize(stream()));
    return wrong == 0;
  }

 private:
  gpu::Stream stream_ = gpu::make_stream();
  gpu::Event before_ = gpu::make_event(), after_ = gpu::make_event();
  gpu::Buffer<unsigned> wrong_{1};
};

// Calls `once` for a warm-up and then five times. Returns the least result of these five.
template <class Once>
double least(Once once) {
  once();
  double best = once();
  for (int run = 1; run < 5; ++run) best = std::min(best, once());
  return best;
}

// Copies of the inputs and outputs of a case, which runs take in turn, so that nothing that one run
// leaves in the L2 cache serves the next.
template <class Copy>
class Rotation {
 public:
  // make(i) is copy i, of `bytes`. There are far more bytes in all than the L2 cache holds, at
  // least `fewest` copies, and no more than 64 of the smallest. Whenever each copy has been used
  // once, refill(copy) fills all of them again, and overwrites their outputs, so that an old result
  // is not mistaken for a new one.
  template <class Make>
  Rotation(double bytes, Make make, std::function<void(Copy&)> refill, std::size_t fewest = 2)
      : refill_(std::move(refill)) {
    constexpr double all_bytes = 240 << 20;
    const auto count =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(all_bytes / bytes)), fewest, 64);
    for (std::size_t i = 0; i < count; ++i) copies_.push_back(make(i));
    at_ = count - 1;
  }

  Copy& next() {
    at_ = (at_ + 1) % copies_.size();
    if (at_ == 0)
      for (Copy& copy : copies_) refill_(copy);
    return copies_[at_];
  }
  Copy& current() { return copies_[at_]; }
  const Copy& first() const { return copies_.front(); }

 private:
  std::function<void(Copy&)> refill_;
  std::vector<Copy> copies_;
  std::size_t at_;
};

// Scratch memory of the device, zeroed in the stream; `bytes` may be 0.
inline std::shared_ptr<gpu::Buffer<std::byte>> zeroed_workspace(std::size_t bytes,
                                                                gpu::StreamHandle stream) {
  auto memory = std::make_shared<gpu::Buffer<std::byte>>(bytes);
  if (bytes > 0) FACESAT_CUDA(cudaMemsetAsync(memory->data(), 0, bytes, stream));
  return memory;
}

// What workspaces may take of the device's memory, once the copies are there: half of the rest, so
// that libraries that are measured have memory, too.
inline std::size_t room_for_workspaces() {
  std::size_t free = 0, total = 0;
  FACESAT_CUDA(cudaMemGetInfo(&free, &total));
  return free / 2;
}

}  // namespace facesat::lab

// The only owner of CUDA's handles: memory, streams, events, graphs; and pictures in device memory.
// Every failure becomes a CudaError with the call and CUDA's own message, or a MemoryError where
// memory is short, because other backends may have room for the work. Destructors never throw.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "core/image.hpp"
#include "facesat/types.hpp"

namespace facesat::gpu {

struct CudaError : DeviceError {
  CudaError(cudaError_t code_, const std::string& message) : DeviceError(message), code(code_) {}
  cudaError_t code;
};

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // forgets this error; one that has broken the device is reported again
  if (status == cudaErrorMemoryAllocation)
    throw MemoryError(std::string("the GPU (CUDA: ") + call + ")", 0);
  throw CudaError(status, std::string("CUDA: ") + call + ": " + cudaGetErrorString(status));
}
#define FACESAT_CUDA(call) ::facesat::gpu::check((call), #call)

// Owns a handle that `destroy` releases.
template <class Handle, cudaError_t (*destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_) destroy(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

inline Stream make_stream() {
  cudaStream_t stream{};
  FACESAT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}
inline Event make_event() {
  cudaEvent_t event{};
  FACESAT_CUDA(cudaEventCreate(&event));
  return Event(event);
}

// Milliseconds between two events; 0 if one of them has not happened.
inline double elapsed_ms(cudaEvent_t begin, cudaEvent_t end) {
  float ms = 0;
  return cudaEventElapsedTime(&ms, begin, end) == cudaSuccess ? ms : 0;
}
inline double elapsed_ms(const Event& begin, const Event& end) {
  return elapsed_ms(begin.get(), end.get());
}

inline void check_allocation(cudaError_t status, std::size_t bytes) {
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // as in check()
    throw MemoryError("a buffer on the GPU", bytes);
  }
  check(status, "allocation");
}

// `count` elements of device memory; contents are undefined.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t count) : count_(count) {
    void* p = nullptr;
    if (count > 0) check_allocation(cudaMalloc(&p, bytes()), bytes());
    memory_ = Owned<void*, cudaFree>(p);
  }
  T* data() const { return static_cast<T*>(memory_.get()); }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  std::size_t count_ = 0;
  Owned<void*, cudaFree> memory_;
};

// Makes room for `count` elements; contents are lost if the buffer must grow.
template <class T>
void reserve(Buffer<T>& buffer, std::size_t count) {
  if (buffer.size() >= count) return;
  buffer = Buffer<T>();  // free first: both need not fit into memory at once
  buffer = Buffer<T>(count);
}

// Enqueues the copy of a vector, which must live until the copy is done.
template <class T>
void upload(const std::vector<T>& from, T* to, cudaStream_t stream) {
  if (!from.empty())
    FACESAT_CUDA(
        cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
}

// Like Buffer, but page-locked host memory: copies from and to it run at full speed.
template <class T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t count) : count_(count) {
    void* p = nullptr;
    if (count > 0) check_allocation(cudaMallocHost(&p, count * sizeof(T)), count * sizeof(T));
    memory_ = Owned<void*, cudaFreeHost>(p);
  }
  T* data() const { return static_cast<T*>(memory_.get()); }
  std::size_t size() const { return count_; }

 private:
  std::size_t count_ = 0;
  Owned<void*, cudaFreeHost> memory_;
};

// Waits for the work of a stream.
//
// A thread that waits alone asks the device again and again, and so goes on without delay. Further
// threads sleep, which costs tens of microseconds to wake up, and leave their cores to others.
class StreamWait {
 public:
  // Of the current device.
  StreamWait() {
    cudaEvent_t created{};
    FACESAT_CUDA(
        cudaEventCreateWithFlags(&created, cudaEventDisableTiming | cudaEventBlockingSync));
    end_ = Event(created);
  }

  void wait(cudaStream_t stream) const {
    const Count count;
    if (count.is_alone) {
      FACESAT_CUDA(cudaStreamSynchronize(stream));
    } else {
      FACESAT_CUDA(cudaEventRecord(end_.get(), stream));
      FACESAT_CUDA(cudaEventSynchronize(end_.get()));
    }
  }

 private:
  // Counts the threads that wait, whatever for.
  struct Count {
    inline static std::atomic<int> waiting = 0;
    const bool is_alone = waiting++ == 0;
    ~Count() { --waiting; }
  };

  Event end_;
};

// Whether this build contains kernels that the current CUDA device can run.
bool has_code();

// A picture or table in device memory. Rows start on 128-byte boundaries; there is room past their
// ends up to the next such boundary, and for at least 128 more bytes after the last row. A border,
// if there is one, is a zero row above and zero elements to the left. All other contents are
// undefined.
template <class T>
class DeviceImage {
 public:
  enum class Border { none, zeros };

  // Makes room for `size` elements, reusing the allocation if it is large enough.
  void resize(Size size, Border border, cudaStream_t stream) {
    constexpr int line = sizeof(T) == 3 ? 128 : 128 / sizeof(T);  // elements of whole lines
    const int left = border == Border::zeros ? line : 0;
    const std::ptrdiff_t pitch = (size.width + left + line - 1) / line * line;
    const int rows = size.height + (left > 0 ? 1 : 0);
    view_ = {};  // if there is too little memory
    elements_ = static_cast<std::size_t>(pitch) * rows + line;
    reserve(memory_, elements_);
    view_ = {memory_.data() + (left > 0 ? pitch + left : 0), size, pitch};
    if (left == 0) return;
    FACESAT_CUDA(cudaMemsetAsync(memory_.data(), 0, pitch * sizeof(T), stream));
    FACESAT_CUDA(cudaMemset2DAsync(memory_.data() + pitch, pitch * sizeof(T), 0, left * sizeof(T),
                                   size.height, stream));
  }

  // Zeros everything, also past the ends of rows. Kernels may read there; results do not depend on
  // what it is, but it must have been written.
  void clear(cudaStream_t stream) {
    FACESAT_CUDA(cudaMemsetAsync(memory_.data(), 0, elements_ * sizeof(T), stream));
  }

  // The same allocation, seen as a smaller picture of the same pitch.
  View<T> view(Size size) const { return {view_.data, size, view_.pitch}; }
  View<T> view() const { return view_; }

 private:
  Buffer<T> memory_;
  std::size_t elements_ = 0;  // of the memory, in use
  View<T> view_;
};

}  // namespace facesat::gpu

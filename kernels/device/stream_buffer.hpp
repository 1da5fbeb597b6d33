// Device memory for work in one stream, from a pool that keeps what is given back, so that calls
// for arrays of one size allocate only once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Memory is taken from and given back to this pool in the order of a stream. Throws CudaError.
inline cudaMemPool_t pool_of(int device) {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const std::scoped_lock lock(mutex);
  cudaMemPool_t& pool = pools[device];
  if (pool) return pool;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  FACESAT_CUDA(cudaMemPoolCreate(&pool, &properties));
  std::uint64_t kept_bytes = std::uint64_t{256} << 20;
  FACESAT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes));
  return pool;
}

class StreamBuffer {
 public:
  StreamBuffer(std::size_t bytes, int device, cudaStream_t stream)
      : bytes_(bytes), stream_(stream) {
    if (bytes > 0)
      check_allocation(cudaMallocFromPoolAsync(&data_, bytes, pool_of(device), stream), bytes);
  }
  ~StreamBuffer() {
    if (data_) cudaFreeAsync(data_, stream_);
  }
  StreamBuffer(const StreamBuffer&) = delete;
  StreamBuffer& operator=(const StreamBuffer&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
  cudaStream_t stream_;
};

}  // namespace facesat::gpu

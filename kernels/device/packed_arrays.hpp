// Arrays in device memory that are uploaded together: for small ones, a transfer costs the same
// whatever its length.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

class PackedArrays {
 public:
  // Forgets all arrays, but keeps the memory.
  void clear() { contents_.clear(); }

  // Adds a copy of an array. Returns its place for at(): where it begins, in bytes.
  template <class T>
  std::size_t add(const std::vector<T>& array) {
    // Any type of element may be loaded 16 bytes at a time.
    const std::size_t place = (contents_.size() + 15) / 16 * 16;
    contents_.resize(place + array.size() * sizeof(T));
    if (!array.empty())
      std::memcpy(contents_.data() + place, array.data(), array.size() * sizeof(T));
    return place;
  }

  // Enqueues the transfer. The device must no longer use what was uploaded before.
  void upload(cudaStream_t stream) {
    if (!uploaded_.get()) uploaded_ = make_event();
    FACESAT_CUDA(cudaEventSynchronize(uploaded_.get()));  // the last transfer reads the staging
    reserve(memory_, contents_.size());
    if (staging_.size() < contents_.size()) {
      staging_ = PinnedBuffer<std::byte>();
      staging_ = PinnedBuffer<std::byte>(contents_.size());
    }
    if (contents_.empty()) return;
    std::memcpy(staging_.data(), contents_.data(), contents_.size());
    FACESAT_CUDA(cudaMemcpyAsync(memory_.data(), staging_.data(), contents_.size(),
                                 cudaMemcpyHostToDevice, stream));
    FACESAT_CUDA(cudaEventRecord(uploaded_.get(), stream));
  }

  // An array in device memory, once it is uploaded.
  template <class T>
  const T* at(std::size_t place) const {
    return reinterpret_cast<const T*>(memory_.data() + place);
  }

 private:
  std::vector<std::byte> contents_;
  PinnedBuffer<std::byte> staging_;
  Buffer<std::byte> memory_;
  Event uploaded_;
};

}  // namespace facesat::gpu

// candidates -> windows on the host: the buffers on the way, and the last launches of a frame.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cascade/group_windows.hpp"
#include "kernels/cascade/skip_rule.hpp"
#include "kernels/cuda.hpp"

namespace facesat::gpu {

// Not for use by several frames at once.
class WindowBuffers {
 public:
  explicit WindowBuffers(cudaStream_t stream) : candidate_count_(1) {
    FACESAT_CUDA(cudaMemsetAsync(candidate_count_.data(), 0, candidate_count_.bytes(), stream));
    grow(first_capacity, stream);
  }

  // For evaluation to append to.
  Candidate* candidates() const { return candidates_.data(); }
  std::uint32_t* candidate_count() const { return candidate_count_.data(); }
  std::uint32_t capacity() const { return capacity_; }

  // Enqueues the skip rule, the order, the classes (if `unites`) and the first copy. What belongs to
  // the buffers is filled in here; the rest of the tasks comes from the caller.
  void enqueue(SkipRuleTask rule, GroupWindowsTask grouping, cudaStream_t stream) const {
    auto* counts = reinterpret_cast<WindowCounts*>(results_.data());
    rule.candidates = candidates_.data();
    rule.candidate_count = candidate_count_.data();
    rule.capacity = capacity_;
    rule.counts = counts;
    rule.windows = visited_.data();
    enqueue_skip_rule(rule, stream);
    grouping.counts = counts;
    grouping.found = visited_.data();
    grouping.windows = reinterpret_cast<GroupedWindow*>(results_.data() + header_bytes);
    enqueue_group_windows(grouping, stream);
    copy(0, bytes_of(first_windows), stream);
  }

  // Once the frame is done: were there more candidates than room? Then there is room now, and the
  // frame must run again.
  bool grew(cudaStream_t stream) {
    const std::uint32_t needed = counts().candidates;
    if (needed <= capacity_) return false;
    grow(needed, stream);
    return true;
  }

  // All windows. Waits for a second copy if there are many.
  std::span<const GroupedWindow> take(cudaStream_t stream) const {
    const std::uint32_t count = counts().windows;
    if (count > first_windows) {
      copy(bytes_of(first_windows), bytes_of(count), stream);
      FACESAT_CUDA(cudaStreamSynchronize(stream));
    }
    return {reinterpret_cast<const GroupedWindow*>(host_.data() + header_bytes), count};
  }

 private:
  static constexpr std::uint32_t first_windows = 2048;  // come with the first copy
  static constexpr std::uint32_t first_capacity = 1 << 16;

  // What comes back: counts, then windows.
  static constexpr std::size_t header_bytes = 16;
  static constexpr std::size_t bytes_of(std::uint32_t windows) {
    return header_bytes + windows * sizeof(GroupedWindow);
  }

  void grow(std::uint32_t capacity, cudaStream_t stream) {
    capacity_ = 0;
    reserve(candidates_, capacity);
    reserve(visited_, capacity);
    reserve(results_, bytes_of(capacity));
    FACESAT_CUDA(cudaMemsetAsync(results_.data(), 0, results_.bytes(), stream));
    host_ = PinnedBuffer<std::byte>();
    host_ = PinnedBuffer<std::byte>(bytes_of(capacity));
    capacity_ = capacity;
  }

  void copy(std::size_t begin, std::size_t end, cudaStream_t stream) const {
    FACESAT_CUDA(cudaMemcpyAsync(host_.data() + begin, results_.data() + begin, end - begin,
                                 cudaMemcpyDeviceToHost, stream));
  }
  const WindowCounts& counts() const {
    return *reinterpret_cast<const WindowCounts*>(host_.data());
  }

  std::uint32_t capacity_ = 0;
  Buffer<std::uint32_t> candidate_count_;
  Buffer<Candidate> candidates_, visited_;
  Buffer<std::byte> results_;
  PinnedBuffer<std::byte> host_;
};

}  // namespace facesat::gpu

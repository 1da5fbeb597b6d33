// The last launches of a frame, which turn candidates (windows that passed every stage) into sorted
// windows in host memory, and the buffers that they use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/cascade/group_windows.hpp"
#include "kernels/cascade/skip_rule.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Not for use by several frames at once.
class WindowBuffers {
 public:
  explicit WindowBuffers(cudaStream_t stream) : candidate_count_(1), counts_(1), host_counts_(1) {
    FACESAT_CUDA(cudaMemsetAsync(candidate_count_.data(), 0, candidate_count_.bytes(), stream));
    reserve_for(first_capacity);
  }

  // For evaluation to append to.
  Candidate* candidates() const { return candidates_.data(); }
  std::uint32_t* candidate_count() const { return candidate_count_.data(); }
  std::uint32_t capacity() const { return capacity_; }

  // After an evaluation whose windows are not wanted.
  void forget_candidates(cudaStream_t stream) const {
    FACESAT_CUDA(cudaMemsetAsync(candidate_count_.data(), 0, candidate_count_.bytes(), stream));
  }

  // Enqueues the skip rule, sorting, the classes (if `unites`) and the copy to the host. Pointers
  // to the buffers are filled in here; the caller sets the rest of the tasks.
  void enqueue(SkipRuleTask rule, GroupWindowsTask grouping, cudaStream_t stream) const {
    rule.candidates = candidates_.data();
    rule.candidate_count = candidate_count_.data();
    rule.capacity = capacity_;
    rule.counts = counts_.data();
    rule.windows = visited_.data();
    enqueue_skip_rule(rule, stream);
    grouping.counts = counts_.data();
    grouping.found = visited_.data();
    grouping.windows = windows_.data();
    grouping.delivered_counts = host_counts_.data();
    grouping.delivered = host_windows_.data();
    enqueue_group_windows(grouping, stream);
  }

  // Once the frame is done: whether there were more candidates than capacity. If so, the frame's
  // windows are incomplete.
  bool overflowed() const { return capacity_ == 0 || counts().candidates > capacity_; }
  // Makes room for all of them; the frame must run again, and graphs that use the old buffers must
  // be destroyed before the call. If it throws, the capacity is 0, so that the next frame overflows
  // and grows the buffers again.
  void grow() { reserve_for(std::max(first_capacity, counts().candidates)); }

  // All windows of the completed frame.
  std::span<const GroupedWindow> windows() const {
    return {host_windows_.data(), counts().windows};
  }

 private:
  static constexpr std::uint32_t first_capacity = 1 << 16;  // far more than a usual frame has

  void reserve_for(std::uint32_t capacity) {
    capacity_ = 0;
    reserve(candidates_, capacity);
    reserve(visited_, capacity);
    reserve(windows_, capacity);
    host_windows_ = PinnedBuffer<GroupedWindow>();  // free first, as reserve() does
    host_windows_ = PinnedBuffer<GroupedWindow>(capacity);
    capacity_ = capacity;
  }

  const WindowCounts& counts() const { return *host_counts_.data(); }

  std::uint32_t capacity_ = 0;
  Buffer<std::uint32_t> candidate_count_;
  Buffer<WindowCounts> counts_;
  Buffer<Candidate> candidates_, visited_;  // before and after the skip rule
  Buffer<GroupedWindow> windows_;
  PinnedBuffer<WindowCounts> host_counts_;
  PinnedBuffer<GroupedWindow> host_windows_;
};

}  // namespace facesat::gpu

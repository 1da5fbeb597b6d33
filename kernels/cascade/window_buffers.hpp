// The last launches of a frame, which turn candidates (windows that passed every stage) into sorted
// windows in host memory, and the buffers that they use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/cascade/group_windows.hpp"
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

  // Enqueues the skip rule, sorting, the classes (if task.unites) and the copy to the host. What
  // belongs to the buffers is filled in here; the caller sets levels, bits of rejected windows,
  // `skips` and `unites`.
  void enqueue(GroupWindowsTask task, cudaStream_t stream) {
    task.candidates = candidates_.data();
    task.candidate_count = candidate_count_.data();
    task.capacity = capacity_;
    task.counts = counts_.data();
    task.found = visited_.data();
    task.windows = windows_.data();
    task.delivered_counts = host_counts_.data();
    task.delivered = host_windows_.data();
    task_ = task;
    enqueue_few_windows(task, stream);
    if (expects_many_) enqueue_many_windows(task, stream);
  }
  // The next frames are of another kind.
  void expect_few() { expects_many_ = false; }

  // Once the frame is done: whether there were more candidates than capacity. If so, the frame's
  // windows are incomplete.
  bool overflowed() const { return capacity_ == 0 || counts().candidates > capacity_; }
  // Makes room for all of them; the frame must run again, and graphs that use the old buffers must
  // be destroyed before the call. If it throws, the capacity is 0, so that the next frame overflows
  // and grows the buffers again.
  void grow() { reserve_for(std::max(first_capacity, counts().candidates)); }

  // Once the frame is done: whether there were many windows, but launches for few.
  bool were_unexpectedly_many() const { return !expects_many_ && counts().windows > few_windows; }
  // Enqueues what is missing in the frame. From now on, enqueue() is for many windows, so a graph
  // of its launches should be captured anew.
  void enqueue_rest(cudaStream_t stream) {
    expects_many_ = true;
    enqueue_many_windows(task_, stream);
  }

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
  bool expects_many_ = false;
  GroupWindowsTask task_{};  // of the last frame
  Buffer<std::uint32_t> candidate_count_;
  Buffer<WindowCounts> counts_;
  Buffer<Candidate> candidates_, visited_;  // before and after the skip rule
  Buffer<GroupedWindow> windows_;
  PinnedBuffer<WindowCounts> host_counts_;
  PinnedBuffer<GroupedWindow> host_windows_;
};

}  // namespace facesat::gpu

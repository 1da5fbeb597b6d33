// The last launches of a frame, which turn candidates (windows that passed every stage) into
// classes of similar windows in host memory, and the buffers that they use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cascade/group_windows.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Not for use by several frames at once.
class WindowBuffers {
 public:
  explicit WindowBuffers(cudaStream_t stream)
      : candidate_count_(1),
        counts_(1),
        boxes_(max_united),
        sums_(max_united),
        first_near_(max_united),
        parents_(max_united),
        roots_(max_united),
        classes_(max_united),
        host_counts_(1),
        host_classes_(max_united) {
    *host_counts_.data() = {};
    FACESAT_CUDA(cudaMemsetAsync(candidate_count_.data(), 0, candidate_count_.bytes(), stream));
    reserve_for(first_capacity);
  }

  // Prepares for frames of another kind, with this many levels. Graphs that use the old buffers
  // must be destroyed before the call.
  void prepare(int levels) {
    expects_many_ = false;
    reserve(level_places_, static_cast<std::size_t>(levels));
    reserve(level_begins_, static_cast<std::size_t>(levels));
  }

  // For evaluation to append to.
  Candidate* candidates() const { return candidates_.data(); }
  std::uint32_t* candidate_count() const { return candidate_count_.data(); }
  std::uint32_t capacity() const { return capacity_; }

  // After an evaluation whose windows are not wanted.
  void forget_candidates(cudaStream_t stream) const {
    FACESAT_CUDA(cudaMemsetAsync(candidate_count_.data(), 0, candidate_count_.bytes(), stream));
  }

  // Enqueues the skip rule and, if task.unites, the classes. What belongs to the buffers is filled
  // in here; the caller sets levels, bits of rejected windows, `skips`, `unites` and `least`.
  void enqueue(GroupWindowsTask task, cudaStream_t stream) {
    task.candidates = candidates_.data();
    task.candidate_count = candidate_count_.data();
    task.capacity = capacity_;
    task.counts = counts_.data();
    task.found = found_.data();
    task.level_places = level_places_.data();
    task.level_begins = level_begins_.data();
    task.boxes = boxes_.data();
    task.sums = sums_.data();
    task.first_near = first_near_.data();
    task.parents = parents_.data();
    task.roots = roots_.data();
    task.classes = classes_.data();
    task.delivered_counts = host_counts_.data();
    task.delivered = host_classes_.data();
    task_ = task;
    enqueue_few_windows(task, stream);
    if (expects_many_) enqueue_many_windows(task, stream);
  }

  // Once the frame is done: whether there were more candidates than capacity. If so, the frame's
  // windows are incomplete.
  bool overflowed() const { return capacity_ == 0 || counts().candidates > capacity_; }
  // Makes room for all of them; the frame must run again, and graphs that use the old buffers must
  // be destroyed before the call. If it throws, the capacity is 0, so that the next frame overflows
  // and grows the buffers again.
  void grow() { reserve_for(std::max(first_capacity, counts().candidates)); }

  // Once the frame is done: whether there were many windows, but launches for few.
  bool were_unexpectedly_many() const {
    return task_.unites && !expects_many_ && counts().windows > few_windows;
  }
  // Enqueues what is missing in the frame. From now on, enqueue() is for many windows, so a graph
  // of its launches should be captured anew.
  void enqueue_rest(cudaStream_t stream) {
    expects_many_ = true;
    enqueue_many_windows(task_, stream);
  }

  // Of the completed frame: how many windows there are, and their classes, unless there are more
  // than max_united windows.
  std::size_t count() const { return counts().windows; }
  std::span<const ClassSums> classes() const { return {host_classes_.data(), counts().classes}; }

  // All windows of the completed frame, in any order. Waits for the copy.
  std::vector<Candidate> windows(cudaStream_t stream) const {
    std::vector<Candidate> windows(count());
    if (windows.empty()) return windows;
    FACESAT_CUDA(cudaMemcpyAsync(windows.data(), found_.data(), windows.size() * sizeof(Candidate),
                                 cudaMemcpyDeviceToHost, stream));
    FACESAT_CUDA(cudaStreamSynchronize(stream));
    return windows;
  }

 private:
  static constexpr std::uint32_t first_capacity = 1 << 16;  // far more than a usual frame has

  void reserve_for(std::uint32_t capacity) {
    capacity_ = 0;
    reserve(candidates_, capacity);
    reserve(found_, capacity);
    capacity_ = capacity;
  }

  const WindowCounts& counts() const { return *host_counts_.data(); }

  std::uint32_t capacity_ = 0;
  bool expects_many_ = false;
  GroupWindowsTask task_{};  // of the last frame
  Buffer<std::uint32_t> candidate_count_;
  Buffer<WindowCounts> counts_;
  Buffer<Candidate> candidates_, found_;  // before and after the skip rule
  Buffer<std::uint32_t> level_places_, level_begins_;
  Buffer<AlignedRect> boxes_;  // this and the next five: for max_united windows
  Buffer<std::int64_t> sums_;
  Buffer<std::uint32_t> first_near_, parents_, roots_;
  Buffer<ClassSums> classes_;
  PinnedBuffer<WindowCounts> host_counts_;
  PinnedBuffer<ClassSums> host_classes_;
};

}  // namespace facesat::gpu

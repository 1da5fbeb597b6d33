#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "kernels/bench/scan_bench.hpp"
#include "kernels/bench/scan_floor.hpp"
#include "kernels/bench/scan_peer.hpp"
#include "kernels/bench/stream_wait.cuh"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {
namespace {

constexpr std::size_t rotated_bytes = 240 << 20;  // of all copies; far more than the L2 cache holds
constexpr int warm_up = 3;                        // runs of each contender

// Device memory for one array and its scan. Of a scan in place, only the copy uses `second`.
struct ScanPlace {
  Buffer<std::byte> first, second;
  std::uint32_t seed;
};

// The scratch memory of an algorithm, zeroed.
class Workspace {
 public:
  Workspace(const ScanAlgorithm& scan, const ScanTask& task, cudaStream_t stream) {
    const std::size_t bytes = scan.workspace_bytes(task);
    if (bytes == 0) return;
    if (scan.needs_mapped_memory && scan.needs_mapped_memory(task.settings)) {
      mapped_ = PinnedBuffer<std::byte>(bytes);
      std::fill_n(mapped_.data(), bytes, std::byte{});
    } else {
      device_ = Buffer<std::byte>(bytes);
      FACESAT_CUDA(cudaMemsetAsync(device_.data(), 0, bytes, stream));
    }
  }
  void* data() const { return mapped_.size() > 0 ? mapped_.data() : device_.data(); }

 private:
  Buffer<std::byte> device_;
  PinnedBuffer<std::byte> mapped_;
};

// What becomes a row.
struct Measured {
  ScanBenchRow row;
  int launches = 1;
  std::function<void(const ScanPlace&)> enqueue{};
  bool makes_scan = false;  // which is checked
};

const ScanAlgorithm* find_measured(const std::string& id) {
  return id == peer_cub_scan.id ? &peer_cub_scan : find_scan(id);
}

class Bench {
 public:
  explicit Bench(const ScanBenchTask& task)
      : task_(task),
        bytes_(static_cast<std::size_t>(task.n) * info_of(task.type).bytes),
        stream_(make_stream()),
        wrong_(1) {
    // Runs take the copies in turn. At least two, and no more than 64 for the shortest arrays.
    const std::size_t of_one = bytes_ * (task.in_place ? 1 : 2);
    const std::size_t copies = std::clamp<std::size_t>(rotated_bytes / of_one + 1, 2, 64);
    for (std::size_t i = 0; i < copies; ++i)
      places_.push_back(
          {Buffer<std::byte>(bytes_), Buffer<std::byte>(bytes_), static_cast<std::uint32_t>(i)});
    add_references();
    for (const ScanContender& contender : task.contenders)
      if (const ScanAlgorithm* const scan = find_measured(contender.id)) add(*scan, contender);
  }

  // All rows, one run of each in turn.
  void run() {
    for (int i = -warm_up; i < task_.runs; ++i)
      for (Measured& measured : measured_)
        if (measured.row.failure.empty()) run_once(measured, i >= 0);
    for (Measured& measured : measured_) std::sort(measured.row.us.begin(), measured.row.us.end());
  }

  const std::vector<Measured>& measured() const { return measured_; }

 private:
  void add_references() {
    measured_.push_back({.row = {.id = "floor"}, .enqueue = [this](const ScanPlace& place) {
                           enqueue_floor(task_at(place, {}), stream_.get());
                         }});
    measured_.push_back({.row = {.id = "memcpy"}, .enqueue = [this](const ScanPlace& place) {
                           FACESAT_CUDA(cudaMemcpyAsync(place.second.data(), place.first.data(),
                                                        bytes_, cudaMemcpyDeviceToDevice,
                                                        stream_.get()));
                         }});
  }

  void add(const ScanAlgorithm& scan, const ScanContender& contender) {
    Measured measured{.row = {.id = contender.id, .settings = contender.settings, .checked = true},
                      .makes_scan = true};
    const ScanTask task = to_scan_task(task_, contender.settings);
    measured.launches = scan.cost(task).launches;
    try {
      auto workspace = std::make_shared<Workspace>(scan, task, stream_.get());
      measured.enqueue = [this, &scan, settings = contender.settings,
                          workspace = std::move(workspace)](const ScanPlace& place) {
        scan.enqueue(task_at(place, settings), workspace->data(), stream_.get());
      };
    } catch (const Error& error) {  // memory, or what CUDA refuses
      measured.row.failure = error.what();
    }
    measured_.push_back(std::move(measured));
  }

  ScanTask task_at(const ScanPlace& place, const ScanSettings& settings) const {
    ScanTask task = to_scan_task(task_, settings);
    task.input = place.first.data();
    task.output = task_.in_place ? place.first.data() : place.second.data();
    return task;
  }

  // Before the first place is used again, all of them are filled, and outputs are overwritten, so
  // that an old result is not mistaken for a new one.
  const ScanPlace& next_place() {
    if (next_ % places_.size() == 0)
      for (const ScanPlace& place : places_) {
        enqueue_fill(task_at(place, {}), place.seed, stream_.get());
        FACESAT_CUDA(cudaMemsetAsync(place.second.data(), 0xEE, bytes_, stream_.get()));
      }
    return places_[next_++ % places_.size()];
  }

  void run_once(Measured& measured, bool is_timed) {
    ScanBenchRow& row = measured.row;
    try {
      const ScanPlace& place = next_place();
      enqueue_wait(measured.launches, stream_.get());
      FACESAT_CUDA(cudaEventRecord(begin_.get(), stream_.get()));
      measured.enqueue(place);
      FACESAT_CUDA(cudaEventRecord(end_.get(), stream_.get()));
      FACESAT_CUDA(cudaEventSynchronize(end_.get()));
      if (is_timed) row.us.push_back(1000 * elapsed_ms(begin_, end_));
      if (measured.makes_scan) row.checked = row.checked && is_right(place);
    } catch (const Error& error) {
      row.failure = error.what();
    }
  }

  bool is_right(const ScanPlace& place) {
    unsigned wrong = 0;
    FACESAT_CUDA(cudaMemsetAsync(wrong_.data(), 0, sizeof wrong, stream_.get()));
    enqueue_check(task_at(place, {}), place.seed, wrong_.data(), stream_.get());
    FACESAT_CUDA(cudaMemcpyAsync(&wrong, wrong_.data(), sizeof wrong, cudaMemcpyDeviceToHost,
                                 stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return wrong == 0;
  }

  const ScanBenchTask& task_;
  std::size_t bytes_;  // of one array
  Stream stream_;
  Event begin_ = make_event(), end_ = make_event();
  Buffer<unsigned> wrong_;  // one number: how many elements are wrong
  std::vector<ScanPlace> places_;
  std::size_t next_ = 0;
  std::vector<Measured> measured_;
};

}  // namespace

void bench_scans(const ScanBenchTask& task,
                 const std::function<void(const ScanBenchRow&)>& report) {
  FACESAT_CUDA(cudaSetDevice(task.device));
  Bench bench(task);
  bench.run();
  for (const Measured& measured : bench.measured()) report(measured.row);
}

}  // namespace facesat::gpu

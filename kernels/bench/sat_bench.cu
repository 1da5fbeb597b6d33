#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/bench/launch_recorder.hpp"
#include "kernels/bench/sat_bench.hpp"
#include "kernels/bench/sat_floor.hpp"
#include "kernels/bench/sat_peer.hpp"
#include "kernels/bench/sat_place.hpp"
#include "kernels/bench/stream_wait.cuh"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {
namespace {

constexpr std::size_t rotated_bytes = 240 << 20;  // of all copies; far more than the L2 cache holds

class Bench {
 public:
  explicit Bench(const SatBenchTask& task) : task_(task), stream_(make_stream()), wrong_(1) {
    const SatTypeInfo& info = info_of(task.type);
    const bool squares = task.squares && info.input_bytes == 1;
    bytes_ = static_cast<double>(task.size.area()) *
             static_cast<double>(info.input_bytes + info.table_bytes * (squares ? 2 : 1));
    // Runs take the copies in turn. At least two, and no more than 64 for the smallest pictures.
    const auto copies = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(static_cast<double>(rotated_bytes) / bytes_)), 2, 64);
    for (std::size_t i = 0; i < copies; ++i) {
      places_.push_back(std::make_unique<SatPlace>(task.type, task.size, squares));
      enqueue_fill(places_.back()->task(), static_cast<std::uint32_t>(i), stream_.get());
    }
  }

  SatBenchRow floor() {
    return measure("floor", 1, [this](const SatTask& t) { enqueue_floor(t, stream_.get()); });
  }

  SatBenchRow copy() {
    const auto half = static_cast<std::size_t>(bytes_ / 2);
    const std::size_t pairs = std::clamp<std::size_t>(rotated_bytes / half / 2, 1, 64);
    const Buffer<std::byte> from(half * pairs), to(half * pairs);
    std::size_t next = 0;
    return measure("memcpy", 1, [&](const SatTask&) {
      next = (next + 1) % pairs;
      FACESAT_CUDA(cudaMemcpyAsync(to.data() + next * half, from.data() + next * half, half,
                                   cudaMemcpyDeviceToDevice, stream_.get()));
    });
  }

  SatBenchRow algorithm(const std::string& id, const SatAlgorithm& sat) {
    const Buffer<std::byte> workspace(sat.workspace_bytes(task_.type, task_.size));
    if (workspace.size() > 0)
      FACESAT_CUDA(cudaMemsetAsync(workspace.data(), 0, workspace.bytes(), stream_.get()));
    const auto enqueue = [&](SatTask task) {
      task.parameter = sat.value;
      sat.enqueue(task, workspace.data(), stream_.get());
    };
    // Twice, because there may be two tables.
    const int launches =
        sat.launches > 0 ? 2 * sat.launches : static_cast<int>(recorded(enqueue).size());
    for (const auto& place : places_) place->poison(stream_.get());
    SatBenchRow row = measure(id, launches, enqueue);
    if (task_.launches)
      row.launches = sat.launches > 0 ? each_launch(launches, enqueue) : each_kernel(enqueue);
    row.checked = is_right();
    return row;
  }

 private:
  // Calls run(task, is_timed) for the warm-up and for the timed runs, each with the next copy. The
  // stream is busy while run() enqueues its launches, if they are few: about 4 us for each.
  template <class Run>
  void repeat(int launches, Run run) {
    const int warm_up = static_cast<int>(std::max<std::size_t>(places_.size(), 3));
    for (int i = 0; i < warm_up + task_.runs; ++i) {
      if (launches <= 64) wait_kernel<<<1, 1, 0, stream_.get()>>>(10 + 4 * launches);
      run(places_[static_cast<std::size_t>(i) % places_.size()]->task(), i >= warm_up);
    }
  }

  template <class Enqueue>
  SatBenchRow measure(const std::string& id, int launches, Enqueue enqueue) {
    const Event begin = make_event(), end = make_event();
    std::vector<double> us;
    repeat(launches, [&](const SatTask& task, bool is_timed) {
      FACESAT_CUDA(cudaEventRecord(begin.get(), stream_.get()));
      enqueue(task);
      FACESAT_CUDA(cudaEventRecord(end.get(), stream_.get()));
      FACESAT_CUDA(cudaEventSynchronize(end.get()));
      float ms = 0;
      FACESAT_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
      if (is_timed) us.push_back(1000.0 * static_cast<double>(ms));
    });
    std::sort(us.begin(), us.end());
    return {.id = id, .us = std::move(us), .bytes = bytes_};
  }

  template <class Enqueue>
  std::vector<SatBenchLaunch> each_launch(int launches, Enqueue enqueue) {
    std::vector<SatBenchLaunch> each;
    for (const Launch& launch : recorded(enqueue)) each.push_back({figures_of(launch)});
    LaunchTimer timer(stream_.get());
    repeat(2 * launches, [&](const SatTask& task, bool is_timed) {  // twice: the events
      timer.begin();
      observe(timer, [&] { enqueue(task); });
      const std::vector<double> us = timer.wait();
      for (std::size_t i = 0; is_timed && i < us.size(); ++i) each[i].us.push_back(us[i]);
    });
    for (SatBenchLaunch& launch : each) std::sort(launch.us.begin(), launch.us.end());
    return each;
  }

  template <class Enqueue>
  std::vector<SatBenchLaunch> each_kernel(Enqueue enqueue) {
    const auto blocks = [](const auto& grid) { return 1.0 * grid[0] * grid[1] * grid[2]; };
    std::vector<SatBenchLaunch> each;
    std::vector<const void*> functions;
    for (const Launch& launch : recorded(enqueue)) {
      const auto known = std::find(functions.begin(), functions.end(), launch.function);
      if (known == functions.end()) {
        functions.push_back(launch.function);
        each.push_back({figures_of(launch)});
        continue;
      }
      SatBenchLaunch& kernel = each[static_cast<std::size_t>(known - functions.begin())];
      ++kernel.count;
      const std::array grid{launch.grid.x, launch.grid.y, launch.grid.z};
      if (blocks(grid) > blocks(kernel.figures.grid)) kernel.figures.grid = grid;
    }
    return each;
  }

  template <class Enqueue>
  std::vector<Launch> recorded(Enqueue enqueue) {
    LaunchRecorder recorder;
    observe(recorder, [&] { enqueue(places_.front()->task()); });
    return recorder.launches;
  }

  // Whether every element of the tables is right, in all copies.
  bool is_right() {
    unsigned wrong = 0;
    FACESAT_CUDA(cudaMemsetAsync(wrong_.data(), 0, sizeof wrong, stream_.get()));
    for (const auto& place : places_) enqueue_check(place->task(), wrong_.data(), stream_.get());
    FACESAT_CUDA(cudaMemcpyAsync(&wrong, wrong_.data(), sizeof wrong, cudaMemcpyDeviceToHost,
                                 stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return wrong == 0;
  }

  const SatBenchTask& task_;
  Stream stream_;
  Buffer<unsigned> wrong_;  // one number: how many elements are wrong
  double bytes_ = 0;
  std::vector<std::unique_ptr<SatPlace>> places_;
};

std::optional<SatAlgorithm> find_measured(const std::string& id) {
  for (const SatAlgorithm* peer : {&peer_cub, &peer_npp})
    if (peer->id == id) return *peer;
  return choose_sat(id).algorithm;
}

}  // namespace

void bench_sats(const SatBenchTask& task, const std::function<void(const SatBenchRow&)>& report) {
  FACESAT_CUDA(cudaSetDevice(task.device));
  Bench bench(task);
  report(bench.floor());
  report(bench.copy());
  for (const std::string& id : task.ids) {
    const std::optional<SatAlgorithm> sat = find_measured(id);
    if (!sat) continue;
    if (sat->id == peer_npp.id)
      if (const std::string why = why_no_npp(task.type, task.squares); !why.empty()) {
        report({.id = id, .failure = why, .is_absent = true});
        continue;
      }
    try {
      report(bench.algorithm(id, *sat));
    } catch (const MemoryError& error) {
      report({.id = id, .failure = error.what()});
    } catch (const NppError& error) {
      report({.id = id, .failure = error.what()});
    }
  }
}

}  // namespace facesat::gpu

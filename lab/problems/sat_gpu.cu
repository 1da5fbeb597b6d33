// SAT algorithms on the GPU, for the measurement in lab/problems/sat.cpp.
#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/device/platform.hpp"
#include "lab/problems/sat.hpp"
#include "lab/problems/sat_memory.hpp"
#include "lab/stream_timer.cuh"

namespace facesat::gpu {
namespace {

// Keeps the launches in their order.
class LaunchRecorder final : public LaunchObserver {
 public:
  void launched(const Launch& launch) override { launches.push_back(launch); }
  std::vector<Launch> launches;
};

// Records an event before the first launch and after each one, so that launches follow each other
// as they do without the timer, except for the events between them.
class LaunchTimer final : public LaunchObserver {
 public:
  explicit LaunchTimer(cudaStream_t stream) : stream_(stream) {}

  void begin() {  // before the first launch
    used_ = 0;
    record();
  }
  void launched(const Launch&) override { record(); }
  std::vector<double> wait() {  // microseconds of each launch since begin()
    FACESAT_CUDA(cudaEventSynchronize(events_[used_ - 1].get()));
    std::vector<double> us;
    for (std::size_t i = 1; i < used_; ++i)
      us.push_back(1000 * elapsed_ms(events_[i - 1], events_[i]));
    return us;
  }

 private:
  void record() {
    if (used_ == events_.size()) events_.push_back(make_event());
    FACESAT_CUDA(cudaEventRecord(events_[used_].get(), stream_));
    ++used_;
  }

  cudaStream_t stream_;
  std::vector<Event> events_;
  std::size_t used_ = 0;
};

// "(scan_kernel<In, Out>)" is written for a kernel with several template arguments.
std::string name_of(std::string_view kernel) {
  if (kernel.starts_with('(')) kernel.remove_prefix(1);
  return std::string(kernel.substr(0, kernel.find_first_of("<)")));
}

// Asks CUDA. The launch must have been observed on the current device.
LaunchFigures figures_of(const Launch& launch) {
  const auto [kernel, function, grid, block, dynamic_bytes] = launch;
  cudaFuncAttributes attributes{};
  FACESAT_CUDA(cudaFuncGetAttributes(&attributes, function));
  int resident = 0;
  FACESAT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, function, static_cast<int>(block.x * block.y * block.z), dynamic_bytes));
  return {.kernel = name_of(kernel),
          .grid = {grid.x, grid.y, grid.z},
          .block = {block.x, block.y, block.z},
          .registers = attributes.numRegs,
          .static_bytes = attributes.sharedSizeBytes,
          .dynamic_bytes = dynamic_bytes,
          .resident_blocks = resident};
}

std::optional<SatAlgorithm> find_measured(const std::string& id) {
  for (const SatAlgorithm* peer : {&peer_cub, &peer_npp})
    if (peer->id == id) return *peer;
  return choose_sat(id).algorithm;
}

class SatInputs {
 public:
  using Memory = std::unique_ptr<SatMemory>;

  explicit SatInputs(const SatCase& one)
      : one_(one),
        copies_(
            one.bytes(),
            [&](std::size_t i) {
              auto memory = std::make_unique<SatMemory>(one.type, one.size, one.squares);
              enqueue_fill(memory->task(), static_cast<std::uint32_t>(i), timer_.stream());
              return memory;
            },
            [this](const Memory& memory) { memory->poison(timer_.stream()); }) {}
  SatInputs(const SatInputs&) = delete;
  SatInputs& operator=(const SatInputs&) = delete;

  // The time of enqueue(task, stream) on the next picture.
  template <class Enqueue>
  double run(int launches, Enqueue enqueue) {
    const Memory& memory = copies_.next();
    return timer_.us(launches, [&] { enqueue(memory->task(), timer_.stream()); });
  }
  bool is_right() {
    return timer_.finds_nothing_wrong(
        [&](unsigned* wrong) { enqueue_check(copies_.current()->task(), wrong, timer_.stream()); });
  }

  // What enqueue(task, stream) launches.
  template <class Enqueue>
  std::vector<Launch> recorded(Enqueue enqueue) {
    LaunchRecorder recorder;
    observe(recorder, [&] { enqueue(copies_.next()->task(), timer_.stream()); });
    return recorder.launches;
  }

  const SatCase& one() const { return one_; }
  StreamHandle stream() const { return timer_.stream(); }

 private:
  SatCase one_;
  lab::StreamTimer timer_;
  lab::Rotation<Memory> copies_;
};

// An algorithm with a workspace of its own.
class ReadySat {
 public:
  ReadySat(const SatAlgorithm& sat, SatInputs& inputs)
      : sat_(sat),
        workspace_(lab::zeroed_workspace(sat.workspace_bytes(inputs.one().type, inputs.one().size),
                                         inputs.stream())) {
    // Twice, because there may be two tables.
    launches_ = sat.launches > 0 ? 2 * sat.launches
                                 : static_cast<int>(inputs.recorded(std::ref(*this)).size());
  }
  void operator()(SatTask task, StreamHandle stream) const {
    task.parameter = sat_.value;
    sat_.enqueue(task, workspace_->data(), stream);
  }
  int launches() const { return launches_; }
  const SatAlgorithm& algorithm() const { return sat_; }

 private:
  SatAlgorithm sat_;
  std::shared_ptr<Buffer<std::byte>> workspace_;
  int launches_ = 0;
};

std::vector<SatLaunch> each_launch(const ReadySat& sat, SatInputs& inputs, int runs) {
  constexpr int warm_up = 3;
  std::vector<SatLaunch> each;
  for (const Launch& launch : inputs.recorded(sat)) each.push_back({figures_of(launch)});
  LaunchTimer timer(inputs.stream());
  for (int run = -warm_up; run < runs; ++run) {
    // Twice as many launches: the events.
    inputs.run(2 * sat.launches(), [&](const SatTask& task, StreamHandle stream) {
      timer.begin();
      observe(timer, [&] { sat(task, stream); });
    });
    const std::vector<double> us = timer.wait();
    for (std::size_t i = 0; run >= 0 && i < us.size(); ++i) each[i].us.push_back(us[i]);
  }
  for (SatLaunch& launch : each) std::sort(launch.us.begin(), launch.us.end());
  return each;
}

std::vector<SatLaunch> each_kernel(const ReadySat& sat, SatInputs& inputs) {
  const auto blocks = [](const auto& grid) { return 1.0 * grid[0] * grid[1] * grid[2]; };
  std::vector<SatLaunch> each;
  std::vector<const void*> functions;
  for (const Launch& launch : inputs.recorded(sat)) {
    const auto known = std::find(functions.begin(), functions.end(), launch.function);
    if (known == functions.end()) {
      functions.push_back(launch.function);
      each.push_back({figures_of(launch)});
      continue;
    }
    SatLaunch& kernel = each[static_cast<std::size_t>(known - functions.begin())];
    ++kernel.count;
    const std::array grid{launch.grid.x, launch.grid.y, launch.grid.z};
    if (blocks(grid) > blocks(kernel.figures.grid)) kernel.figures.grid = grid;
  }
  return each;
}

lab::Subject subject_of(const std::string& id, const SatAlgorithm& sat,
                        const std::shared_ptr<SatInputs>& inputs) {
  const SatCase& one = inputs->one();
  lab::Subject subject{.id = id, .bytes = one.bytes()};
  if (sat.id == peer_npp.id) subject.failure = why_no_npp(one.type, one.squares);
  subject.is_absent = !subject.failure.empty();
  if (sat.parameter) subject.fields["value"] = sat.value;
  subject.workspace_bytes = sat.workspace_bytes(one.type, one.size);
  subject.open = [=] {
    const auto ready = std::make_shared<ReadySat>(sat, *inputs);
    return lab::Runner{[=] { return inputs->run(ready->launches(), *ready); },
                       [=] { return inputs->is_right(); }};
  };
  return subject;
}

// As many bytes as the floor reads and writes in all, copied between buffers that rotate.
lab::Subject memcpy_subject(const std::shared_ptr<SatInputs>& inputs) {
  const auto open = [inputs] {
    const auto half = static_cast<std::size_t>(inputs->one().bytes() / 2);
    using Pair = std::pair<Buffer<std::byte>, Buffer<std::byte>>;
    const auto pairs = std::make_shared<lab::Rotation<Pair>>(
        inputs->one().bytes(),
        [half](std::size_t) { return Pair(Buffer<std::byte>(half), Buffer<std::byte>(half)); },
        [](Pair&) {});
    return lab::Runner{[=] {
      const Pair& pair = pairs->next();
      return inputs->run(1, [&](const SatTask&, StreamHandle stream) {
        FACESAT_CUDA(cudaMemcpyAsync(pair.second.data(), pair.first.data(), half,
                                     cudaMemcpyDeviceToDevice, stream));
      });
    }};
  };
  return {.id = "memcpy", .bytes = inputs->one().bytes(), .open = open};
}

}  // namespace

SatSubjects sat_subjects(const SatCase& one, int device, const std::vector<std::string>& ids) {
  FACESAT_CUDA(cudaSetDevice(device));
  const auto inputs = std::make_shared<SatInputs>(one);
  SatSubjects all;
  all.subjects.push_back({.id = "floor", .bytes = one.bytes(), .open = [=] {
                            return lab::Runner{[=] { return inputs->run(1, enqueue_floor); }};
                          }});
  all.subjects.push_back(memcpy_subject(inputs));
  for (const std::string& id : ids)
    if (const std::optional<SatAlgorithm> sat = find_measured(id))
      all.subjects.push_back(subject_of(id, *sat, inputs));
  all.room = lab::room_for_workspaces();
  all.launches = [inputs](const std::string& id, int runs) {
    const ReadySat ready(find_measured(id).value(), *inputs);
    return ready.algorithm().launches > 0 ? each_launch(ready, *inputs, runs)
                                          : each_kernel(ready, *inputs);
  };
  return all;
}

}  // namespace facesat::gpu

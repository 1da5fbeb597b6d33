// Prefix scans on the GPU, for the measurement in lab/problems/scan.cpp.
#include <functional>

#include "lab/problems/scan.hpp"
#include "lab/stream_timer.cuh"

namespace facesat::gpu {
namespace {

// An array and its scan. Of a scan in place, only the copy uses `second`.
struct Arrays {
  Buffer<std::byte> first, second;
  std::uint32_t seed;
};

class ScanInputs {
 public:
  ScanInputs(const ScanTask& task, bool in_place)
      : task_(task),
        in_place_(in_place),
        bytes_(static_cast<std::size_t>(task.n) * info_of(task.type).bytes),
        arrays_(
            static_cast<double>(bytes_ * (in_place ? 1 : 2)),
            [&](std::size_t i) {
              return Arrays{Buffer<std::byte>(bytes_), Buffer<std::byte>(bytes_),
                            static_cast<std::uint32_t>(i)};
            },
            [this](const Arrays& arrays) {
              enqueue_fill(task_at(arrays, {}), arrays.seed, timer_.stream());
              FACESAT_CUDA(cudaMemsetAsync(arrays.second.data(), 0xEE, bytes_, timer_.stream()));
            }) {}
  ScanInputs(const ScanInputs&) = delete;
  ScanInputs& operator=(const ScanInputs&) = delete;

  // One run on the next arrays.
  template <class Enqueue>
  double run(int launches, const ScanSettings& settings, Enqueue enqueue) {
    const Arrays& arrays = arrays_.next();
    return timer_.us(launches, [&] { enqueue(task_at(arrays, settings), timer_.stream()); });
  }

  bool is_right() {
    const Arrays& arrays = arrays_.current();
    return timer_.finds_nothing_wrong([&](unsigned* wrong) {
      enqueue_check(task_at(arrays, {}), arrays.seed, wrong, timer_.stream());
    });
  }

  void copy(StreamHandle stream) {
    const Arrays& arrays = arrays_.current();
    FACESAT_CUDA(cudaMemcpyAsync(arrays.second.data(), arrays.first.data(), bytes_,
                                 cudaMemcpyDeviceToDevice, stream));
  }

  const ScanTask& task() const { return task_; }
  std::size_t bytes() const { return bytes_; }
  StreamHandle stream() const { return timer_.stream(); }

 private:
  ScanTask task_at(const Arrays& arrays, const ScanSettings& settings) const {
    ScanTask task = task_;
    task.settings = settings;
    task.input = arrays.first.data();
    task.output = in_place_ ? arrays.first.data() : arrays.second.data();
    return task;
  }

  ScanTask task_;
  bool in_place_;
  std::size_t bytes_;  // of one array
  lab::StreamTimer timer_;
  lab::Rotation<Arrays> arrays_;
};

// The scratch memory of an algorithm, zeroed; of the device, or the host's.
std::shared_ptr<void> make_workspace(const ScanAlgorithm& scan, const ScanTask& task,
                                     StreamHandle stream) {
  const std::size_t bytes = scan.workspace_bytes(task);
  if (bytes == 0 || !scan.needs_mapped_memory || !scan.needs_mapped_memory(task.settings)) {
    const auto memory = lab::zeroed_workspace(bytes, stream);
    return {memory, memory->data()};
  }
  const auto memory = std::make_shared<PinnedBuffer<std::byte>>(bytes);
  std::fill_n(memory->data(), bytes, std::byte{});
  return {memory, memory->data()};
}

// The ordinary way to a scan of an order: as many scans, one after the other.
ScanTask of_order_1(ScanTask task) {
  task.settings = standard_settings(facesat_scan);
  task.order = 1;
  return task;
}
const ScanAlgorithm repeated_scan{
    .id = repeated_scan_id,
    .title = "facesat_scan, once for each order",
    .source = "",
    .year = 2026,
    .most_order = most_scan_order,
    .cost =
        [](const ScanTask& task) {
          const ScanCost one = facesat_scan.cost(of_order_1(task));
          return ScanCost{task.order * one.launches, task.order * one.reads,
                          task.order * one.writes};
        },
    .workspace_bytes =
        [](const ScanTask& task) { return facesat_scan.workspace_bytes(of_order_1(task)); },
    .enqueue =
        [](const ScanTask& task, void* workspace, StreamHandle stream) {
          ScanTask one = of_order_1(task);
          for (int k = 0; k < task.order; ++k) {
            facesat_scan.enqueue(one, workspace, stream);
            one.input = one.output;
          }
        },
};

const ScanAlgorithm* algorithm_of(const std::string& id) {
  for (const ScanAlgorithm* const scan : {&peer_cub_scan, &repeated_scan})
    if (scan->id == id) return scan;
  return find_scan(id);
}

lab::Subject subject_of(const ScanAlgorithm& scan, const ScanRow& row,
                        const std::shared_ptr<ScanInputs>& inputs) {
  ScanTask task = inputs->task();
  task.settings = row.settings;
  if (std::string why = why_not(scan, task); !why.empty())
    return {.id = row.id,
            .fields = {{"settings", settings_text(scan, row.settings)}},
            .failure = std::move(why),
            .is_absent = true};
  const auto open = [=, &scan, settings = row.settings] {
    const std::shared_ptr<void> workspace = make_workspace(scan, task, inputs->stream());
    const auto run = [=, &scan, launches = scan.cost(task).launches] {
      return inputs->run(launches, settings, [&](const ScanTask& arrays, StreamHandle stream) {
        scan.enqueue(arrays, workspace.get(), stream);
      });
    };
    return lab::Runner{run, [inputs] { return inputs->is_right(); }};
  };
  return {.id = row.id,
          .fields = {{"settings", settings_text(scan, row.settings)}},
          .bytes = 2.0 * static_cast<double>(inputs->bytes()),
          .open = open,
          .workspace_bytes = scan.workspace_bytes(task)};
}

// A row that is not a scan.
lab::Subject reference(const char* id, const std::shared_ptr<ScanInputs>& inputs,
                       std::function<void(const ScanTask&, StreamHandle)> enqueue) {
  return {.id = id,
          .fields = {{"settings", ""}},
          .bytes = 2.0 * static_cast<double>(inputs->bytes()),
          .open = [=] { return lab::Runner{[=] { return inputs->run(1, {}, enqueue); }}; }};
}

}  // namespace

lab::GpuSubjects scan_subjects(const ScanTask& task, bool in_place, int device,
                               const std::vector<ScanRow>& chosen) {
  FACESAT_CUDA(cudaSetDevice(device));
  const auto inputs = std::make_shared<ScanInputs>(task, in_place);
  lab::GpuSubjects all;
  all.subjects.push_back(reference("floor", inputs, enqueue_floor));
  all.subjects.push_back(
      reference("memcpy", inputs,
                [raw = inputs.get()](const ScanTask&, StreamHandle stream) { raw->copy(stream); }));
  for (const ScanRow& row : chosen)
    if (const ScanAlgorithm* const scan = algorithm_of(row.id))
      all.subjects.push_back(subject_of(*scan, row, inputs));
  all.room = lab::room_for_workspaces();
  return all;
}

}  // namespace facesat::gpu

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/bench/sat_bench.hpp"
#include "kernels/bench/sat_floor.hpp"
#include "kernels/cuda.hpp"

namespace facesat::gpu {
namespace {

constexpr std::size_t rotated_bytes = 240 << 20;

// Keeps the stream busy until everything behind it is enqueued.
__global__ void wait_kernel(int microseconds) {
  for (int i = 0; i < microseconds; ++i) __nanosleep(1000);
}

std::ptrdiff_t pitch_of(int width, std::size_t element_bytes) {
  const auto elements = static_cast<std::ptrdiff_t>(64 / element_bytes);
  return (width + elements - 1) / elements * elements;
}

// An input and its tables, with their borders.
class Place {
 public:
  Place(SatType type, Size size, bool squares) {
    const auto [unused, name, input_bytes, table_bytes] = info_of(type);
    const auto height = static_cast<std::size_t>(size.height);
    task_.type = type;
    task_.size = size;
    task_.input_pitch = pitch_of(size.width, input_bytes);
    input_ = Buffer<std::byte>(static_cast<std::size_t>(task_.input_pitch) * height * input_bytes);
    task_.input = input_.data();
    const auto border = static_cast<std::ptrdiff_t>(64 / table_bytes);
    const std::ptrdiff_t pitch = pitch_of(size.width, table_bytes) + border;
    const auto make_table = [&](Buffer<std::byte>& memory) -> void* {
      memory = Buffer<std::byte>(static_cast<std::size_t>(pitch) * (height + 1) * table_bytes);
      FACESAT_CUDA(cudaMemset(memory.data(), 0, memory.bytes()));
      return memory.data() + (pitch + border) * static_cast<std::ptrdiff_t>(table_bytes);
    };
    task_.sum = make_table(sum_);
    task_.sum_pitch = pitch;
    if (squares) {
      task_.squared_sum = make_table(squared_sum_);
      task_.squared_pitch = pitch;
    }
  }
  const SatTask& task() const { return task_; }

  // So that a result that stands there already is not taken for a new one.
  void poison(StreamHandle stream) const {
    const std::size_t element = info_of(task_.type).table_bytes;
    const auto fill = [&](void* table, std::ptrdiff_t pitch) {
      if (table)
        FACESAT_CUDA(cudaMemset2DAsync(table, static_cast<std::size_t>(pitch) * element, 0xEE,
                                       static_cast<std::size_t>(task_.size.width) * element,
                                       static_cast<std::size_t>(task_.size.height), stream));
    };
    fill(task_.sum, task_.sum_pitch);
    fill(task_.squared_sum, task_.squared_pitch);
  }

 private:
  SatTask task_;
  Buffer<std::byte> input_, sum_, squared_sum_;
};

SatType type_named(const std::string& name) {
  for (const SatTypeInfo& info : sat_types)
    if (info.name == name) return info.type;
  throw DeviceError("there is no SAT type \"" + name + "\"");
}

class Bench {
 public:
  explicit Bench(const SatBenchTask& task)
      : task_(task), type_(type_named(task.type)), stream_(make_stream()), wrong_(1) {
    const SatTypeInfo& info = info_of(type_);
    const bool squares = task.squares && info.input_bytes == 1;
    bytes_ = static_cast<double>(task.size.area()) *
             static_cast<double>(info.input_bytes + info.table_bytes * (squares ? 2 : 1));
    const auto copies = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(static_cast<double>(rotated_bytes) / bytes_)), 2, 64);
    for (std::size_t i = 0; i < copies; ++i) {
      places_.push_back(std::make_unique<Place>(type_, task.size, squares));
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

  SatBenchRow algorithm(const SatAlgorithm& sat) {
    const Buffer<std::byte> workspace(sat.workspace_bytes(type_, task_.size));
    if (workspace.size() > 0)
      FACESAT_CUDA(cudaMemsetAsync(workspace.data(), 0, workspace.bytes(), stream_.get()));
    const int launches = sat.launches > 0 ? 2 * sat.launches : 1 << 20;
    const auto enqueue = [&](const SatTask& t) { sat.enqueue(t, workspace.data(), stream_.get()); };
    for (const auto& place : places_) place->poison(stream_.get());
    SatBenchRow row = measure(sat.id, launches, enqueue);
    row.checked = is_right();
    return row;
  }

 private:
  // Median, least and 95th percentile of single runs.
  template <class Enqueue>
  SatBenchRow measure(const std::string& id, int launches, Enqueue enqueue) {
    const Event begin = make_event(), end = make_event();
    std::vector<double> us;
    const int warm_up = static_cast<int>(std::max<std::size_t>(places_.size(), 3));
    for (int run = -warm_up; run < task_.runs; ++run) {
      const SatTask& task =
          places_[static_cast<std::size_t>(run + warm_up) % places_.size()]->task();
      if (launches <= 64) wait_kernel<<<1, 1, 0, stream_.get()>>>(10 + 4 * launches);
      FACESAT_CUDA(cudaEventRecord(begin.get(), stream_.get()));
      enqueue(task);
      FACESAT_CUDA(cudaEventRecord(end.get(), stream_.get()));
      FACESAT_CUDA(cudaEventSynchronize(end.get()));
      float ms = 0;
      FACESAT_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
      if (run >= 0) us.push_back(1000.0 * static_cast<double>(ms));
    }
    std::sort(us.begin(), us.end());
    const auto at = [&](double q) {
      return us[static_cast<std::size_t>(q * static_cast<double>(us.size() - 1) + 0.5)];
    };
    return {id, at(0.5), us.front(), at(0.95), bytes_, false, ""};
  }

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
  SatType type_;
  Stream stream_;
  Buffer<unsigned> wrong_;
  double bytes_ = 0;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace

std::vector<std::string> sat_type_names() {
  std::vector<std::string> names;
  for (const SatTypeInfo& info : sat_types) names.emplace_back(info.name);
  return names;
}

void bench_sats(const SatBenchTask& task, const std::function<void(const SatBenchRow&)>& report) {
  FACESAT_CUDA(cudaSetDevice(task.device));
  Bench bench(task);
  report(bench.floor());
  report(bench.copy());
  for (const std::string& id : task.ids) try {
      report(bench.algorithm(*find_sat(id)));
    } catch (const MemoryError& error) {
      report({.id = id, .failure = error.what()});
    }
}

}  // namespace facesat::gpu

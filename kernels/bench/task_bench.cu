#include <algorithm>
#include <memory>

#include "kernels/bench/sat_floor.hpp"
#include "kernels/bench/sat_place.hpp"
#include "kernels/bench/scan_floor.hpp"
#include "kernels/bench/stream_wait.cuh"
#include "kernels/bench/task_bench.hpp"
#include "kernels/device/cuda.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/tasks/sat.hpp"

namespace facesat::gpu {
namespace {

constexpr std::size_t rotated_bytes = 240 << 20;  // of all copies; far more than the L2 cache holds
constexpr int warm_up = 2;                        // runs

// How many copies of a problem runs take in turn.
std::size_t copies_of(std::size_t bytes) {
  return std::clamp<std::size_t>(rotated_bytes / std::max<std::size_t>(bytes, 1) + 1, 2, 64);
}

// Adds the number of bytes of a block of rows that differ to *wrong.
__global__ void compare_kernel(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b,
                               std::ptrdiff_t b_pitch, int width, int height, unsigned* wrong) {
  unsigned count = 0;
  for (int y = static_cast<int>(blockIdx.y); y < height; y += static_cast<int>(gridDim.y))
    for (int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); x < width;
         x += static_cast<int>(gridDim.x * blockDim.x))
      count += a[y * a_pitch + x] != b[y * b_pitch + x];
  if (count > 0) atomicAdd(wrong, count);
}

template <class T>
Buffer<T> uploaded(const T* from, std::size_t count) {
  Buffer<T> buffer(count);
  FACESAT_CUDA(cudaMemcpy(buffer.data(), from, count * sizeof(T), cudaMemcpyHostToDevice));
  return buffer;
}

void copy_rows(std::uint8_t* to, std::ptrdiff_t pitch, View<const std::uint8_t> from) {
  FACESAT_CUDA(cudaMemcpy2D(to, static_cast<std::size_t>(pitch), from.data,
                            static_cast<std::size_t>(from.pitch),
                            static_cast<std::size_t>(from.size.width),
                            static_cast<std::size_t>(from.size.height), cudaMemcpyHostToDevice));
}

// The inputs, results and right results of a problem in device memory. task(i) is copy i of it.
class KnapsackPlaces {
 public:
  using Task = KnapsackTask;
  explicit KnapsackPlaces(const KnapsackBenchTask& task)
      : values_(uploaded(task.values.data(), task.values.size())),
        weights_(uploaded(task.weights.data(), task.weights.size())),
        best_(task.expected.best.size()),
        expected_best_(uploaded(task.expected.best.data(), task.expected.best.size())),
        taken_(task.expected.taken.size()),
        expected_taken_(uploaded(task.expected.taken.data(), task.expected.taken.size())),
        task_{static_cast<int>(task.values.size()),
              task.capacity,
              values_.data(),
              weights_.data(),
              best_.data(),
              taken_.data()} {}

  std::span<const KnapsackSolver> solvers() const { return knapsack_solvers(); }
  const KnapsackTask& task(std::size_t) const { return task_; }
  void poison(std::size_t, cudaStream_t stream) const {
    FACESAT_CUDA(cudaMemsetAsync(best_.data(), 0xEE, best_.bytes(), stream));
    FACESAT_CUDA(cudaMemsetAsync(taken_.data(), 0xEE, taken_.bytes(), stream));
  }
  void floor(std::size_t, cudaStream_t stream) const {
    FACESAT_CUDA(cudaMemsetAsync(taken_.data(), 0xEE, taken_.bytes(), stream));
  }
  void compare(std::size_t, unsigned* wrong, cudaStream_t stream) const {
    compare(best_, expected_best_, 1, wrong, stream);
    compare(taken_, expected_taken_, task_.items, wrong, stream);
  }

 private:
  template <class T>
  static void compare(const Buffer<T>& a, const Buffer<T>& b, int rows, unsigned* wrong,
                      cudaStream_t stream) {
    const auto bytes = static_cast<std::ptrdiff_t>(a.bytes()) / rows;
    compare_kernel<<<dim3(64, 256), 256, 0, stream>>>(
        reinterpret_cast<const std::uint8_t*>(a.data()), bytes,
        reinterpret_cast<const std::uint8_t*>(b.data()), bytes, static_cast<int>(bytes), rows,
        wrong);
    FACESAT_CUDA(cudaGetLastError());
  }

  Buffer<float> values_;
  Buffer<int> weights_;
  Buffer<float> best_, expected_best_;
  Buffer<std::uint32_t> taken_, expected_taken_;
  KnapsackTask task_;
};

class HalftonePlaces {
 public:
  using Task = HalftoneTask;
  explicit HalftonePlaces(const HalftoneBenchTask& task)
      : size_(task.picture.size), pitch_((size_.width + 127) / 128 * 128), rule_(task.rule) {
    const std::size_t bytes =
        static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(size_.height);
    expected_ = Buffer<std::uint8_t>(bytes);
    copy_rows(expected_.data(), pitch_, task.expected);
    for (std::size_t i = 0, count = copies_of(2 * bytes); i < count; ++i) {
      pictures_.emplace_back(bytes);
      halftones_.emplace_back(bytes);
      copy_rows(pictures_.back().data(), pitch_, task.picture);
    }
  }

  std::span<const HalftoneSolver> solvers() const { return halftone_solvers(); }
  HalftoneTask task(std::size_t i) const {
    return {rule_,
            size_,
            pictures_[i % pictures_.size()].data(),
            pitch_,
            halftones_[i % halftones_.size()].data(),
            pitch_};
  }
  void poison(std::size_t i, cudaStream_t stream) const {
    const Buffer<std::uint8_t>& halftone = halftones_[i % halftones_.size()];
    FACESAT_CUDA(cudaMemsetAsync(halftone.data(), 0xEE, halftone.bytes(), stream));
  }
  void floor(std::size_t i, cudaStream_t stream) const {
    enqueue_floor(ScanTask{.type = ScanType::u32,
                           .n = static_cast<int>(expected_.bytes() / 4),
                           .input = pictures_[i % pictures_.size()].data(),
                           .output = halftones_[i % halftones_.size()].data()},
                  stream);
  }
  void compare(std::size_t i, unsigned* wrong, cudaStream_t stream) const {
    compare_kernel<<<dim3(8, 1024), 256, 0, stream>>>(halftones_[i % halftones_.size()].data(),
                                                      pitch_, expected_.data(), pitch_, size_.width,
                                                      size_.height, wrong);
    FACESAT_CUDA(cudaGetLastError());
  }

 private:
  Size size_;
  std::ptrdiff_t pitch_;
  HalftoneRule rule_;
  Buffer<std::uint8_t> expected_;
  std::vector<Buffer<std::uint8_t>> pictures_, halftones_;
};

class SatPlaces {
 public:
  using Task = SatTask;
  explicit SatPlaces(Size size) {
    const std::size_t bytes = 8 * static_cast<std::size_t>(size.area());
    for (std::size_t i = 0, count = copies_of(bytes); i < count; ++i) {
      places_.push_back(std::make_unique<SatPlace>(SatType::f32_f32, size, false));
      enqueue_fill(places_.back()->task(), static_cast<std::uint32_t>(i), nullptr);
    }
    FACESAT_CUDA(cudaDeviceSynchronize());
  }

  std::span<const SatSolver> solvers() const { return sat_solvers(); }
  const SatTask& task(std::size_t i) const { return places_[i % places_.size()]->task(); }
  void poison(std::size_t i, cudaStream_t stream) const {
    places_[i % places_.size()]->poison(stream);
  }
  void floor(std::size_t i, cudaStream_t stream) const { enqueue_floor(task(i), stream); }
  void compare(std::size_t i, unsigned* wrong, cudaStream_t stream) const {
    enqueue_check(task(i), wrong, stream);
  }

 private:
  std::vector<std::unique_ptr<SatPlace>> places_;
};

template <class Places>
class Bench {
 public:
  Bench(const Places& places, int runs)
      : places_(places), runs_(runs), stream_(make_stream()), wrong_(1) {}

  TaskBenchRow floor() {
    TaskBenchRow row{.id = "floor"};
    measure(row, false, [&](std::size_t i) { places_.floor(i, stream_.get()); });
    return row;
  }

  TaskBenchRow row(const TaskSolver<typename Places::Task>& solver) {
    TaskBenchRow row{.id = std::string(solver.id), .checked = true};
    try {
      Buffer<std::byte> workspace(
          std::max<std::size_t>(solver.workspace_bytes(places_.task(0)), 1));
      FACESAT_CUDA(cudaMemsetAsync(workspace.data(), 0, workspace.bytes(), stream_.get()));
      row.launches = solver.launches(places_.task(0));
      measure(row, true, [&](std::size_t i) {
        solver.enqueue(places_.task(i), workspace.data(), stream_.get());
      });
    } catch (const Error& error) {  // memory, or what CUDA refuses
      row.failure = error.what();
    }
    return row;
  }

 private:
  template <class Enqueue>
  void measure(TaskBenchRow& row, bool is_checked, Enqueue enqueue) {
    for (int run = -warm_up; run < runs_; ++run) {
      const std::size_t place = next_++;
      places_.poison(place, stream_.get());
      enqueue_wait(row.launches, stream_.get());
      FACESAT_CUDA(cudaEventRecord(begin_.get(), stream_.get()));
      enqueue(place);
      FACESAT_CUDA(cudaEventRecord(end_.get(), stream_.get()));
      FACESAT_CUDA(cudaEventSynchronize(end_.get()));
      if (run >= 0) row.us.push_back(1000 * elapsed_ms(begin_, end_));
      if (is_checked) row.checked = row.checked && is_right(place);
    }
    std::sort(row.us.begin(), row.us.end());
  }

  bool is_right(std::size_t place) {
    unsigned wrong = 0;
    FACESAT_CUDA(cudaMemsetAsync(wrong_.data(), 0, sizeof wrong, stream_.get()));
    places_.compare(place, wrong_.data(), stream_.get());
    FACESAT_CUDA(cudaMemcpyAsync(&wrong, wrong_.data(), sizeof wrong, cudaMemcpyDeviceToHost,
                                 stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return wrong == 0;
  }

  const Places& places_;
  int runs_;
  Stream stream_;
  Event begin_ = make_event(), end_ = make_event();
  Buffer<unsigned> wrong_;  // one number: how many bytes or elements are wrong
  std::size_t next_ = 0;
};

template <class Places>
void bench_places(const Places& places, const TaskBenchSettings& settings,
                  const ReportTaskRow& report) {
  Bench<Places> bench(places, settings.runs);
  report(bench.floor());
  for (const auto& solver : places.solvers())
    if (std::find(settings.schedules.begin(), settings.schedules.end(), solver.id) !=
        settings.schedules.end())
      report(bench.row(solver));
}

}  // namespace

void bench_tasks(const KnapsackBenchTask& task, const TaskBenchSettings& settings,
                 const ReportTaskRow& report) {
  FACESAT_CUDA(cudaSetDevice(settings.device));
  bench_places(KnapsackPlaces(task), settings, report);
}
void bench_tasks(const HalftoneBenchTask& task, const TaskBenchSettings& settings,
                 const ReportTaskRow& report) {
  FACESAT_CUDA(cudaSetDevice(settings.device));
  bench_places(HalftonePlaces(task), settings, report);
}
void bench_tasks(Size size, const TaskBenchSettings& settings, const ReportTaskRow& report) {
  FACESAT_CUDA(cudaSetDevice(settings.device));
  bench_places(SatPlaces(size), settings, report);
}

}  // namespace facesat::gpu

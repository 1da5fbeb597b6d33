// Task arrays on the GPU, for the measurement in lab/problems/tasks.cpp.
#include <algorithm>
#include <memory>

#include "kernels/tasks/problems.hpp"
#include "lab/problems/sat.hpp"
#include "lab/problems/sat_memory.hpp"
#include "lab/problems/scan.hpp"
#include "lab/problems/tasks.hpp"
#include "lab/stream_timer.cuh"

namespace facesat::gpu {
namespace {

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

// For each problem: a copy of its inputs and results in device memory; and the right results with
// what the measurement does with a copy.

class KnapsackInputs {
 public:
  using Task = KnapsackTask;
  struct Copy {
    Buffer<float> best;
    Buffer<std::uint32_t> taken;
  };
  static constexpr std::size_t fewest_copies = 1;  // the tables of large problems fill the memory

  explicit KnapsackInputs(const KnapsackCase& one)
      : bytes(one.bytes()),
        values_(uploaded(one.values.data(), one.values.size())),
        weights_(uploaded(one.weights.data(), one.weights.size())),
        best_(uploaded(one.expected.best.data(), one.expected.best.size())),
        taken_(uploaded(one.expected.taken.data(), one.expected.taken.size())),
        items_(one.items()),
        capacity_(one.capacity) {}

  static std::span<const KnapsackSolver> solvers() { return knapsack_solvers(); }
  Copy make(std::size_t, StreamHandle) const {
    return {Buffer<float>(best_.size()), Buffer<std::uint32_t>(taken_.size())};
  }
  KnapsackTask task(const Copy& copy) const {
    return {items_,          capacity_,        values_.data(),
            weights_.data(), copy.best.data(), copy.taken.data()};
  }
  void poison(const Copy& copy, StreamHandle stream) const {
    FACESAT_CUDA(cudaMemsetAsync(copy.best.data(), 0xEE, copy.best.bytes(), stream));
    FACESAT_CUDA(cudaMemsetAsync(copy.taken.data(), 0xEE, copy.taken.bytes(), stream));
  }
  void floor(const Copy& copy, StreamHandle stream) const {
    FACESAT_CUDA(cudaMemsetAsync(copy.taken.data(), 0xEE, copy.taken.bytes(), stream));
  }
  void compare(const Copy& copy, unsigned* wrong, StreamHandle stream) const {
    compare(copy.best, best_, 1, wrong, stream);
    compare(copy.taken, taken_, items_, wrong, stream);
  }

  const double bytes;

 private:
  template <class T>
  static void compare(const Buffer<T>& a, const Buffer<T>& b, int rows, unsigned* wrong,
                      StreamHandle stream) {
    const auto row_bytes = static_cast<std::ptrdiff_t>(a.bytes()) / rows;
    compare_kernel<<<dim3(64, 256), 256, 0, stream>>>(
        reinterpret_cast<const std::uint8_t*>(a.data()), row_bytes,
        reinterpret_cast<const std::uint8_t*>(b.data()), row_bytes, static_cast<int>(row_bytes),
        rows, wrong);
    FACESAT_CUDA(cudaGetLastError());
  }

  Buffer<float> values_;
  Buffer<int> weights_;
  Buffer<float> best_;  // the right results
  Buffer<std::uint32_t> taken_;
  int items_, capacity_;
};

class HalftoneInputs {
 public:
  using Task = HalftoneTask;
  struct Copy {
    Buffer<std::uint8_t> picture, halftone;
  };
  static constexpr std::size_t fewest_copies = 2;

  explicit HalftoneInputs(const HalftoneCase& one)
      : bytes(one.bytes()),
        one_(one),
        size_(one.picture.size()),
        pitch_((size_.width + 127) / 128 * 128),
        expected_(picture_bytes()) {
    copy_rows(expected_.data(), pitch_, one.expected.view());
  }

  static std::span<const HalftoneSolver> solvers() { return halftone_solvers(); }
  Copy make(std::size_t, StreamHandle) const {
    Copy copy{Buffer<std::uint8_t>(picture_bytes()), Buffer<std::uint8_t>(picture_bytes())};
    copy_rows(copy.picture.data(), pitch_, one_.picture.view());
    return copy;
  }
  HalftoneTask task(const Copy& copy) const {
    return {one_.rule, size_, copy.picture.data(), pitch_, copy.halftone.data(), pitch_};
  }
  void poison(const Copy& copy, StreamHandle stream) const {
    FACESAT_CUDA(cudaMemsetAsync(copy.halftone.data(), 0xEE, copy.halftone.bytes(), stream));
  }
  void floor(const Copy& copy, StreamHandle stream) const {
    enqueue_floor(ScanTask{.type = ScanType::u32,
                           .n = static_cast<int>(expected_.bytes() / 4),
                           .input = copy.picture.data(),
                           .output = copy.halftone.data()},
                  stream);
  }
  void compare(const Copy& copy, unsigned* wrong, StreamHandle stream) const {
    compare_kernel<<<dim3(8, 1024), 256, 0, stream>>>(
        copy.halftone.data(), pitch_, expected_.data(), pitch_, size_.width, size_.height, wrong);
    FACESAT_CUDA(cudaGetLastError());
  }

  const double bytes;

 private:
  std::size_t picture_bytes() const {
    return static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(size_.height);
  }

  const HalftoneCase& one_;
  Size size_;
  std::ptrdiff_t pitch_;
  Buffer<std::uint8_t> expected_;
};

class SatTaskInputs {
 public:
  using Task = SatTask;
  using Copy = std::unique_ptr<SatMemory>;
  static constexpr std::size_t fewest_copies = 2;

  explicit SatTaskInputs(Size size) : bytes(8 * static_cast<double>(size.area())), size_(size) {}

  static std::span<const SatSolver> solvers() { return sat_solvers(); }
  Copy make(std::size_t i, StreamHandle stream) const {
    auto memory = std::make_unique<SatMemory>(SatType::f32_f32, size_, false);
    enqueue_fill(memory->task(), static_cast<std::uint32_t>(i), stream);
    return memory;
  }
  const SatTask& task(const Copy& copy) const { return copy->task(); }
  void poison(const Copy& copy, StreamHandle stream) const { copy->poison(stream); }
  void floor(const Copy& copy, StreamHandle stream) const { enqueue_floor(task(copy), stream); }
  void compare(const Copy& copy, unsigned* wrong, StreamHandle stream) const {
    enqueue_check(task(copy), wrong, stream);
  }

  const double bytes;

 private:
  Size size_;
};

// Inputs of a problem, in copies that runs take in turn.
template <class Inputs>
struct RotatingInputs {
  using Copy = typename Inputs::Copy;

  template <class Case>
  explicit RotatingInputs(const Case& one)
      : inputs(one),
        copies(
            inputs.bytes, [this](std::size_t i) { return inputs.make(i, timer.stream()); },
            [this](const Copy& copy) { inputs.poison(copy, timer.stream()); },
            Inputs::fewest_copies) {}
  RotatingInputs(const RotatingInputs&) = delete;
  RotatingInputs& operator=(const RotatingInputs&) = delete;

  Inputs inputs;
  lab::StreamTimer timer;
  lab::Rotation<Copy> copies;
};

template <class Inputs>
lab::Subject solver_subject(const TaskSolver<typename Inputs::Task>& solver,
                            const std::shared_ptr<RotatingInputs<Inputs>>& all) {
  const auto first = all->inputs.task(all->copies.first());
  const int launches = solver.launches(first);
  const std::size_t workspace_bytes = solver.workspace_bytes(first);
  const auto open = [=, &solver] {
    const auto workspace = lab::zeroed_workspace(workspace_bytes, all->timer.stream());
    const auto run = [=, &solver] {
      const auto task = all->inputs.task(all->copies.next());
      return all->timer.us(launches,
                           [&] { solver.enqueue(task, workspace->data(), all->timer.stream()); });
    };
    const auto is_right = [=] {
      return all->timer.finds_nothing_wrong([&](unsigned* wrong) {
        all->inputs.compare(all->copies.current(), wrong, all->timer.stream());
      });
    };
    return lab::Runner{run, is_right};
  };
  return {.id = std::string(solver.id),
          .fields = {{"launches", launches}},
          .bytes = all->inputs.bytes,
          .open = open,
          .workspace_bytes = workspace_bytes};
}

template <class Inputs, class Case>
lab::GpuSubjects subjects_of(const Case& one, int device, const std::vector<std::string>& ids) {
  FACESAT_CUDA(cudaSetDevice(device));
  const auto all = std::make_shared<RotatingInputs<Inputs>>(one);
  lab::GpuSubjects subjects;
  subjects.subjects.push_back({.id = "floor", .bytes = all->inputs.bytes, .open = [all] {
                                 return lab::Runner{[all] {
                                   const auto& copy = all->copies.next();
                                   return all->timer.us(
                                       1, [&] { all->inputs.floor(copy, all->timer.stream()); });
                                 }};
                               }});
  for (const auto& solver : Inputs::solvers())
    if (std::find(ids.begin(), ids.end(), solver.id) != ids.end())
      subjects.subjects.push_back(solver_subject(solver, all));
  subjects.room = lab::room_for_workspaces();
  return subjects;
}

}  // namespace

lab::GpuSubjects task_subjects(const KnapsackCase& one, int device,
                               const std::vector<std::string>& ids) {
  return subjects_of<KnapsackInputs>(one, device, ids);
}
lab::GpuSubjects task_subjects(const HalftoneCase& one, int device,
                               const std::vector<std::string>& ids) {
  return subjects_of<HalftoneInputs>(one, device, ids);
}
lab::GpuSubjects task_subjects(Size size, int device, const std::vector<std::string>& ids) {
  return subjects_of<SatTaskInputs>(size, device, ids);
}

}  // namespace facesat::gpu

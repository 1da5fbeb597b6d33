// What lab/problems/tasks.cpp, the problem of `facesat bench tasks`, and its GPU side have in
// common. Without CUDA headers.
#pragma once

#include <string>
#include <vector>

#include "core/image.hpp"
#include "kernels/tasks/problems.hpp"
#include "lab/measure.hpp"

namespace facesat::gpu {

// Inputs with their right results, from the definitions in kernels/tasks, in the host's memory.
struct KnapsackCase {
  std::vector<float> values;
  std::vector<int> weights;
  int capacity = 0;
  KnapsackTable expected;

  int items() const { return static_cast<int>(values.size()); }
  double bytes() const {  // that the floor writes
    return 4.0 * items() * static_cast<double>(taken_words(capacity));
  }
};
struct HalftoneCase {
  HalftoneRule rule = HalftoneRule::real;
  Image<std::uint8_t> picture, expected;

  double bytes() const { return 2 * static_cast<double>(picture.size().area()); }
};

// The floor and those of the ids that are solvers, with inputs and results in device memory. The
// floor writes the bits of the choices (knapsack), copies the picture (error diffusion), or reads
// every pixel and writes every element of the table (SAT; type 32f32f). Rows have the field
// "launches". The case must stay while it is measured. Without CUDA there are none. Throw
// DeviceError or MemoryError.
lab::GpuSubjects task_subjects(const KnapsackCase& one, int device,
                               const std::vector<std::string>& ids);
lab::GpuSubjects task_subjects(const HalftoneCase& one, int device,
                               const std::vector<std::string>& ids);
lab::GpuSubjects task_subjects(Size size, int device, const std::vector<std::string>& ids);

}  // namespace facesat::gpu

namespace facesat::lab {

// Items as Funasaka et al. have them: values are whole numbers below 4096, weights at most
// 4 * capacity / items, so that about half of the items are taken. The right result is left empty.
// Throws MemoryError.
gpu::KnapsackCase knapsack_case(int items, int capacity);

}  // namespace facesat::lab

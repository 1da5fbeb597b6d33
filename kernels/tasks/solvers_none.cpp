// For builds without CUDA.
#include "kernels/tasks/error_diffusion.hpp"
#include "kernels/tasks/knapsack.hpp"
#include "kernels/tasks/sat.hpp"

namespace facesat::gpu {

std::span<const KnapsackSolver> knapsack_solvers() {
  return {};
}
std::span<const HalftoneSolver> halftone_solvers() {
  return {};
}
std::span<const SatSolver> sat_solvers() {
  return {};
}

}  // namespace facesat::gpu

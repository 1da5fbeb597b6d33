// Integral images (summed area tables) as a task array. Includes no CUDA headers.
#pragma once

#include <span>

#include "kernels/sat/algorithm.hpp"
#include "kernels/tasks/task_solver.hpp"

namespace facesat::gpu {

// The schedules of task arrays for the tiles of Funasaka et al. 2017, and our own fastest SAT; none
// in builds without CUDA. Types other than 32f32f and squares are left to kernels/sat: they are not
// computed.
using SatSolver = TaskSolver<SatTask>;
std::span<const SatSolver> sat_solvers();

}  // namespace facesat::gpu

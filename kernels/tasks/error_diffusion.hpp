// Halftone pictures by error diffusion on a GPU. Includes no CUDA headers. The rules and the
// definitions are in filters/halftone.hpp.
//
// Source: Funasaka, Nakano, Ito 2017, section V-C, after A. Kasagi, K. Nakano, Y. Ito,
// "Parallelization techniques for error diffusion with GPU implementations", CANDAR 2015.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "filters/halftone.hpp"
#include "kernels/tasks/task_solver.hpp"

namespace facesat::gpu {

using facesat::collect_errors;
using facesat::diffuse_errors;
using facesat::HalftoneRule;
using facesat::IntegerHalftone;
using facesat::pixel_bits;
using facesat::RealHalftone;
using facesat::visit_rule;

// Both pictures are in device memory, of the same size. Rows start on 16-byte boundaries; pitches
// are in bytes, and all of a row's pitch can be read. White is 255 and black 0. Rows of the
// halftone may be overwritten up to the next multiple of 4 bytes.
struct HalftoneTask {
  HalftoneRule rule = HalftoneRule::real;
  Size size;
  const std::uint8_t* picture = nullptr;
  std::ptrdiff_t picture_pitch = 0;
  std::uint8_t* halftone = nullptr;
  std::ptrdiff_t halftone_pitch = 0;
};

// The ways to compute it on a GPU; none in builds without CUDA.
using HalftoneSolver = TaskSolver<HalftoneTask>;
std::span<const HalftoneSolver> halftone_solvers();

}  // namespace facesat::gpu

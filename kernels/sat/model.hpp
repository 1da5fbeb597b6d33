// How long SAT algorithms should take: by the models of their papers, and by the bytes that they
// move where a paper has no model. Pure arithmetic on measured figures of the GPU.
#pragma once

#include <string_view>

#include "core/image.hpp"
#include "kernels/device/figures.hpp"
#include "kernels/sat/types.hpp"

namespace facesat::gpu {

struct SatAlgorithm;

struct SatModel {
  std::string_view name;
  // Microseconds of a picture of that size and `tables` tables (1, or 2 with that of the squares).
  double (*us)(const SatAlgorithm&, const SatTypeInfo&, Size, int tables, const MicroFigures&);
};

// "bytes": the bytes that are read and written at the speed of a copy, and the launches.
double bytes_us(const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
                const MicroFigures& figures);
inline constexpr SatModel bytes_model{"bytes", bytes_us};

// Of the copy that is faster: cudaMemcpy's or a kernel's.
double copy_bytes_per_us(const MicroFigures& figures);

// Clocks of the multiprocessors in microseconds.
double microseconds(double clocks, const MicroFigures& figures);

}  // namespace facesat::gpu

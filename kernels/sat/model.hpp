// The expected times of SAT (summed area table) algorithms: by the models of their papers, or,
// where a paper has no model, by the bytes that they move. Pure arithmetic on measured figures of
// the GPU.
#pragma once

#include <span>
#include <string_view>

#include "core/image.hpp"
#include "kernels/device/figures.hpp"
#include "kernels/sat/types.hpp"

namespace facesat::gpu {

struct SatAlgorithm;

struct SatModel {
  std::string_view name;
  // Microseconds for a picture of the given size and `tables` tables (1, or 2 with the squared
  // integral image).
  double (*us)(const SatAlgorithm&, const SatTypeInfo&, Size, int tables, const MicroFigures&);
  // The same by the throughputs of the GPU, for papers that have such a model, too; else null. It
  // needs the algorithm's launches.
  double (*throughput_us)(const SatAlgorithm&, const SatTypeInfo&, Size, int tables,
                          const MicroFigures&, std::span<const LaunchFigures>) = nullptr;
};

// The "bytes" model: the time to read and write the bytes at the speed of a copy, plus the
// launches.
double bytes_us(const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
                const MicroFigures& figures);
inline constexpr SatModel bytes_model{"bytes", bytes_us};

// The speed of the faster copy: cudaMemcpy's or a kernel's.
double copy_bytes_per_us(const MicroFigures& figures);

// Converts clocks of the multiprocessors to microseconds.
double microseconds(double clocks, const MicroFigures& figures);

}  // namespace facesat::gpu

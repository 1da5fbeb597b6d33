// The contract of every SAT algorithm, and the registry of all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/image.hpp"
#include "kernels/platform.hpp"

namespace facesat::gpu {

// What an algorithm reads and writes, in device memory. The picture starts on a 16-byte boundary
// and its pitch is a multiple of 16. Tables follow core/table.hpp: inclusive, wrapping modulo 2^32,
// column 0 on a 16-byte boundary, pitches multiples of 4. Their row -1 and column -1 are zero
// before and after; what lies behind a row's end may be overwritten up to the next multiple of 4.
struct SatTask {
  View<const std::uint8_t> picture;
  View<std::uint32_t> sum, squared_sum;
};

// Constant; one for each file in kernels/sat. The file's stem is the symbol and the id.
struct SatAlgorithm {
  const char *id, *title, *paper;
  int year;
  int launches;
  double reads,
      writes;  // elements of the picture read, and of each table read and written, an element

  // Scratch memory for a picture of that size. It belongs to the caller, must be zero before the
  // first use, and is left ready for the next; one launch at a time may use it.
  std::size_t (*workspace_bytes)(Size);
  // Enqueues the whole algorithm; allocates nothing, waits for nothing.
  void (*enqueue)(const SatTask& task, void* workspace, StreamHandle stream);
};

std::span<const SatAlgorithm* const> sat_algorithms();
const SatAlgorithm* find_sat(std::string_view id);  // null if there is none of that name

#define FACESAT_SAT(id) extern const SatAlgorithm id;
#include "kernels/sat/registry.def"
#undef FACESAT_SAT

}  // namespace facesat::gpu

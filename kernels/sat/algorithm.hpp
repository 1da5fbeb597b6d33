// The contract of every SAT (summed area table, integral image) algorithm, and the registry of all
// of them, without CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/registry.hpp"
#include "kernels/sat/model.hpp"
#include "kernels/sat/types.hpp"

namespace facesat::gpu {

// The picture that an algorithm reads and the tables that it writes, all in device memory. Pitches
// are in elements. Rows start on 16-byte boundaries; nothing past their ends is read or written.
// Tables follow core/table.hpp: inclusive, with a row -1 and a column -1 that are zero before the
// call and stay so. From element (-1, -1) on, the same memory is therefore the exclusive table of
// (width + 1) x (height + 1) elements. A table whose pointer is null is not computed. Only 8-bit
// inputs have a squared integral image.
struct SatTask {
  SatType type = SatType::u8_u32;
  Size size;
  const void* input = nullptr;
  std::ptrdiff_t input_pitch = 0;
  void* sum = nullptr;
  std::ptrdiff_t sum_pitch = 0;
  void* squared_sum = nullptr;
  std::ptrdiff_t squared_pitch = 0;
  double parameter = 0;  // SatAlgorithm::value
};

// The task of a detector: both tables of a picture.
inline SatTask both_tables(View<const std::uint8_t> picture, View<std::uint32_t> sum,
                           View<std::uint32_t> squared_sum) {
  return {.type = SatType::u8_u32,
          .size = picture.size,
          .input = picture.data,
          .input_pitch = picture.pitch,
          .sum = sum.data,
          .sum_pitch = sum.pitch,
          .squared_sum = squared_sum.data,
          .squared_pitch = squared_sum.pitch};
}

// A number that an algorithm leaves open, such as a block's size. "id:value" chooses it.
struct SatParameter {
  std::string_view name, meaning;
  double least, greatest;
  bool is_whole = false;
  // Values besides the default that the paper has figures for; the benchmark measures them, too.
  std::span<const double> published{};
  double (*reads)(double value) = nullptr;  // SatAlgorithm::reads; null: the same for all values
  // Values worth measuring for pictures of a size, in ascending order.
  std::vector<double> (*candidates)(Size) = nullptr;
};

// A SAT algorithm: a constant in kernels/sat whose name is the id, in a file of that name or, where
// a paper has several, of its author and year. Every algorithm takes every type, and pictures of
// any size up to 32768 x 32768.
struct SatAlgorithm {
  std::string_view id, title, source;
  int year;
  int launches;                  // per table; 0: one per anti-diagonal
  double reads, writes;          // of picture and table, per element
  bool both_at_once = false;     // both tables come from one read of the picture
  SatModel model = bytes_model;  // predicts its time

  // Bytes of scratch memory for a picture of the given type and size, whatever the parameter. The
  // memory belongs to the caller, must be zero before the first use, and is left ready for the next
  // use with the same type and size; before a use with others, it must be zeroed. Only one call's
  // launches at a time may use it.
  std::size_t (*workspace_bytes)(SatType, Size);
  // Enqueues the whole algorithm; allocates nothing, waits for nothing.
  void (*enqueue)(const SatTask& task, void* workspace, StreamHandle stream);

  const SatParameter* parameter = nullptr;  // null: it has none
  double value = 0;                         // of the parameter; in the registry, the default
};

Algorithms<SatAlgorithm> sat_algorithms();  // the first is the default
inline const SatAlgorithm* find_sat(std::string_view id) {
  return find_by_id(sat_algorithms(), id);
}

// What "id" or "id:value" chooses.
struct SatChoice {
  std::optional<SatAlgorithm> algorithm{};
  std::string why_not{};  // a sentence, if there is no such algorithm
};
SatChoice choose_sat(std::string_view text);

#define FACESAT_ALGORITHM(id) extern const SatAlgorithm id;
#include "kernels/sat/registry.def"
#undef FACESAT_ALGORITHM

}  // namespace facesat::gpu

// The contract of every SAT (summed area table, integral image) algorithm, and the list of all of
// them, without CUDA headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "facesat/types.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/registry.hpp"

namespace facesat::gpu {

struct LaunchFigures;
struct MicroFigures;
struct SatAlgorithm;

// Named by the type of the picture and that of the table. Integer sums wrap modulo 2^32.
enum class SatType { u8_s32, u8_u32, u8_f32, s32_s32, u32_u32, f32_f32, f64_f64 };

struct SatTypeInfo {
  SatType type;
  std::string_view name;
  std::size_t input_bytes, table_bytes;  // per element
};
inline constexpr std::array<SatTypeInfo, 7> sat_types{{{SatType::u8_s32, "8u32s", 1, 4},
                                                       {SatType::u8_u32, "8u32u", 1, 4},
                                                       {SatType::u8_f32, "8u32f", 1, 4},
                                                       {SatType::s32_s32, "32s32s", 4, 4},
                                                       {SatType::u32_u32, "32u32u", 4, 4},
                                                       {SatType::f32_f32, "32f32f", 4, 4},
                                                       {SatType::f64_f64, "64f64f", 8, 8}}};
constexpr const SatTypeInfo& info_of(SatType type) {
  return sat_types[static_cast<std::size_t>(type)];
}

// Calls visit(In{}, Out{}) with the C++ types in which tables of `type` are computed. Signed
// integers are summed as unsigned ones, which give the same bits and may overflow.
template <class Visit>
void visit_types(SatType type, Visit visit) {
  switch (type) {
    case SatType::u8_s32:
    case SatType::u8_u32:
      return visit(std::uint8_t{}, std::uint32_t{});
    case SatType::u8_f32:
      return visit(std::uint8_t{}, float{});
    case SatType::s32_s32:
    case SatType::u32_u32:
      return visit(std::uint32_t{}, std::uint32_t{});
    case SatType::f32_f32:
      return visit(float{}, float{});
    case SatType::f64_f64:
      return visit(double{}, double{});
  }
}

// The picture that an algorithm reads and the tables that it writes, all in device memory. Pitches
// are in elements. Rows start on 16-byte boundaries; nothing past their ends is read or written.
// Tables follow core/image.hpp: inclusive, with a row -1 and a column -1 that are zero before the
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

// How the time of an algorithm is predicted: pure arithmetic on measured figures of the GPU.
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

// A number that an algorithm leaves open, such as a block's size. "id:value" chooses it.
struct SatParameter {
  std::string_view name, meaning;
  double least, greatest;
  bool is_whole = false;
  // Values besides the default that the paper has figures for; the benchmark measures them, too.
  std::span<const double> published{};
  double (*reads)(double value) = nullptr;  // SatAlgorithm::reads; null: the same for all values
  // The only values that it takes, in ascending order; empty: all from the least to the greatest.
  std::span<const double> choices{};
  // Values worth measuring for pictures of a size, in ascending order: at most `most` of them if
  // there are more. Null: the choices.
  std::vector<double> (*candidates)(Size, std::size_t most) = nullptr;

  std::vector<double> values_for(Size size, std::size_t most) const {
    return candidates ? candidates(size, most)
                      : std::vector<double>(choices.begin(), choices.end());
  }
};

// A SAT algorithm: a constant in kernels/sat whose name is the id, in a file of that name or, where
// a paper has several, of its author and year. Every algorithm takes every type, and pictures of
// any size up to 32768 x 32768.
struct SatAlgorithm {
  std::string_view id, title;
  std::string_view source;  // "Authors: Title, where", or words without a colon
  int year;
  int launches;                  // per table of 4096 x 4096; 0: one per anti-diagonal
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

// facesat::sat() on a device: integral images of arrays that belong to a caller, in any layout.
// `input` and `table` have passed its checks, except that they must be in the memory of the same
// device: throws ArgumentError.
void enqueue_array_sat(const ConstArrayView& input, const ArrayView& table,
                       const SatOptions& options);

#define FACESAT_ALGORITHM(id) extern const SatAlgorithm id;
#include "kernels/sat/registry.def"
#undef FACESAT_ALGORITHM

}  // namespace facesat::gpu

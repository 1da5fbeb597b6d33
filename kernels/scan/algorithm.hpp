// The contract of every prefix scan, and the list of all of them, without CUDA headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facesat/types.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/registry.hpp"

namespace facesat::gpu {

// Elements are numbers, or the affine maps x -> a x + b of operators.hpp.
enum class ScanType { s32, u32, s64, f32, f64, affine_u32, affine_f32 };

struct ScanTypeInfo {
  ScanType type;
  std::string_view name;
  std::size_t bytes;  // per element
};
inline constexpr std::array<ScanTypeInfo, 7> scan_types{{{ScanType::s32, "32s", 4},
                                                         {ScanType::u32, "32u", 4},
                                                         {ScanType::s64, "64s", 8},
                                                         {ScanType::f32, "32f", 4},
                                                         {ScanType::f64, "64f", 8},
                                                         {ScanType::affine_u32, "affine32u", 8},
                                                         {ScanType::affine_f32, "affine32f", 8}}};
constexpr const ScanTypeInfo& info_of(ScanType type) {
  return scan_types[static_cast<std::size_t>(type)];
}

// Sums and products of integers wrap modulo 2^32 or 2^64. Minima and maxima of arrays that contain
// NaN are unspecified.
using facesat::ScanOperator;

inline constexpr std::array<std::string_view, 5> scan_operators{"sum", "product", "minimum",
                                                                "maximum", "compose"};
// Maps can only be composed, and nothing else can be.
constexpr bool applies(ScanOperator op, ScanType type) {
  const bool is_map = type == ScanType::affine_u32 || type == ScanType::affine_f32;
  return (op == ScanOperator::compose) == is_map;
}
constexpr std::string_view name_of(ScanOperator op) {
  return scan_operators[static_cast<std::size_t>(op)];
}

inline constexpr int longest_scan = 1 << 30;  // elements
inline constexpr int most_scan_order = 8, most_scan_tuple = 8;

// A parameter of an algorithm, like the number of threads of a block, with the values that it may
// take.
struct ScanParameter {
  std::string_view name, meaning;
  int standard;                  // the value if none is given
  std::span<const int> choices;  // ascending
};
inline constexpr std::size_t most_scan_parameters = 5;

// The values of an algorithm's parameters, in the order of ScanAlgorithm::parameters.
using ScanSettings = std::array<int, most_scan_parameters>;

// Element i of `output` becomes the first i + 1 elements of `input` combined by the operator
// (inclusive) or the first i (exclusive; then element 0 is the operator's identity: 0, 1, the
// largest or smallest value of the type, infinity for real numbers, or the map x -> x). Both arrays
// are in device memory and start on 16-byte boundaries. They may be the same; otherwise they must
// not overlap.
//
// Tuples of s elements are s interleaved arrays, each of which is scanned by itself: element i is
// combined with elements i - s, i - 2s and so on. n need not be a multiple of s. A scan of order q
// is the scan of that of order q - 1.
struct ScanTask {
  ScanType type = ScanType::u32;
  ScanOperator op = ScanOperator::sum;  // one that applies() to the type
  bool is_inclusive = true;
  int n = 0;  // elements, from 1 to longest_scan
  const void* input = nullptr;
  void* output = nullptr;
  ScanSettings settings{};   // each one of the parameter's choices; see standard_settings()
  int order = 1, tuple = 1;  // from 1 to what the algorithm takes
};

// What one scan does. Reads and writes are of elements of global memory, per element of the array.
struct ScanCost {
  int launches = 0;
  double reads = 0, writes = 0;
};

// A scan algorithm: a constant in kernels/scan whose name is the id, in a file of that name or,
// where a paper has several, of its author and year. Every algorithm takes every type, every
// operator that applies to it, and every length; why_not() tells which orders and tuples.
struct ScanAlgorithm {
  std::string_view id, title, source;
  int year;
  std::span<const ScanParameter> parameters{};
  int most_order = 1, most_tuple = 1;  // the greatest that it takes

  ScanCost (*cost)(const ScanTask&);

  // Bytes of scratch memory for a task, whose arrays are not looked at. The memory belongs to the
  // caller, starts on a 256-byte boundary, must be zero before the first use with these settings,
  // and is left ready for the next use. Only one call's launches at a time may use it. It is device
  // memory, unless needs_mapped_memory says otherwise for these settings: then it is page-locked
  // memory of the host that the device can access under the same address.
  std::size_t (*workspace_bytes)(const ScanTask&);
  bool (*needs_mapped_memory)(const ScanSettings&) = nullptr;  // null: never

  // Enqueues the whole algorithm; allocates nothing, waits for nothing. Throws CudaError.
  void (*enqueue)(const ScanTask& task, void* workspace, StreamHandle stream);
};

Algorithms<ScanAlgorithm> scan_algorithms();  // the first is the default
inline const ScanAlgorithm* find_scan(std::string_view id) {
  return find_by_id(scan_algorithms(), id);
}

// Why the algorithm is not for a task of this order and these tuples, in a few words; empty if it
// is.
std::string why_not(const ScanAlgorithm& algorithm, const ScanTask& task);

ScanSettings standard_settings(const ScanAlgorithm& algorithm);
// Every combination of the choices of its parameters.
std::vector<ScanSettings> all_settings(const ScanAlgorithm& algorithm);
// "threads=128 blocks=256"; empty without parameters.
std::string settings_text(const ScanAlgorithm& algorithm, const ScanSettings& settings);

// An algorithm with its settings, from "id" or "id:name=value,name=value"; a parameter that is not
// named has its standard value. Throws ArgumentError with a sentence.
struct ScanChoice {
  const ScanAlgorithm* algorithm = nullptr;
  ScanSettings settings{};
};
ScanChoice parse_scan(std::string_view text);

// facesat::scan() on a device: arrays that belong to a caller, on any boundary of their elements.
// `task` has passed its checks and has no settings; `algorithm` is as for parse_scan(), empty: the
// default; `stream` is a cudaStream_t. Throws ArgumentError unless both arrays are in the memory of
// the same device, BackendError for the algorithm, CudaError.
void enqueue_array_scan(ScanTask task, const std::string& algorithm, void* stream);

#define FACESAT_ALGORITHM(id) extern const ScanAlgorithm id;
#include "kernels/scan/registry.def"
#undef FACESAT_ALGORITHM

}  // namespace facesat::gpu

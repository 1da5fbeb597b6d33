// The public scan(): checks what it is given, and chooses between the host and a device.
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "facesat.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/scan/operators.hpp"

namespace facesat {
namespace {

std::optional<gpu::ScanType> type_of(Element element, bool is_map) {
  using gpu::ScanType;
  switch (element) {
    case Element::u32:
      return is_map ? ScanType::affine_u32 : ScanType::u32;
    case Element::f32:
      return is_map ? ScanType::affine_f32 : ScanType::f32;
    case Element::s32:
      return is_map ? std::nullopt : std::optional(ScanType::s32);
    case Element::s64:
      return is_map ? std::nullopt : std::optional(ScanType::s64);
    case Element::f64:
      return is_map ? std::nullopt : std::optional(ScanType::f64);
    case Element::u8:
    case Element::u16:
    case Element::s16:
    case Element::u64:
      break;
  }
  return std::nullopt;
}

void check_array(const ConstArrayView& array, const char* which) {
  const int bytes = bytes_per_element(array.element);
  if (!array.data) throw ArgumentError(fmt::format("the {} has no memory", which));
  if (reinterpret_cast<std::uintptr_t>(array.data) % static_cast<unsigned>(bytes) != 0)
    throw ArgumentError(
        fmt::format("the {} has elements of {} bytes, but begins between two", which, bytes));
}

// What is to be done, of arrays that fulfil the contract.
gpu::ScanTask task_of(const ConstArrayView& input, const ArrayView& output,
                      const ScanOptions& options) {
  const bool is_map = options.op == ScanOperator::compose;
  const auto [width, height] = input.size;
  const int per_element = is_map ? 2 : 1;
  if (height != 1 || width < 1)
    throw ArgumentError(
        fmt::format("a scan is of an array of one row, not of {} x {}", width, height));
  if (width % per_element != 0)
    throw ArgumentError("compose needs maps, pairs of elements, but their number is odd");
  if (width / per_element > gpu::longest_scan)
    throw ArgumentError("a scan is of at most 2^30 elements");
  if (output.size != input.size || output.element != input.element)
    throw ArgumentError("the result of a scan has the size and the elements of its input");
  const std::optional<gpu::ScanType> type = type_of(input.element, is_map);
  if (!type)
    throw ArgumentError(is_map ? "maps are of u32 or f32"
                               : "a scan is of s32, u32, s64, f32 or f64");
  check_array(input, "input");
  check_array(output, "result");
  if (input.on_device != output.on_device)
    throw ArgumentError("the result of a scan must be where its input is");
  return {.type = *type,
          .op = options.op,
          .is_inclusive = !options.exclusive,
          .n = width / per_element,
          .input = input.data,
          .output = output.data};
}

}  // namespace

void scan(const ConstArrayView& input, const ArrayView& output, const ScanOptions& options) {
  const gpu::ScanTask task = task_of(input, output, options);
  if (input.on_device) {
    const gpu::KeptDevice kept;
    return gpu::enqueue_array_scan(task, options.algorithm, options.stream);
  }
  if (!options.algorithm.empty())
    throw BackendError(
        fmt::format("algorithm {}: the algorithms are for arrays on a device", options.algorithm));
  gpu::scan_reference(task);
}

std::vector<std::string> scan_algorithms() {
  std::vector<std::string> ids;
  for (const gpu::ScanAlgorithm* const scan : gpu::scan_algorithms()) ids.emplace_back(scan->id);
  return ids;
}

}  // namespace facesat

// The public sat(): checks what it is given, and chooses between the host and a device.
#include <cstdlib>

#include <fmt/format.h>

#include "kernels/cuda_backend.hpp"
#include "kernels/sat/algorithm.hpp"
#include "kernels/sat/array_sat.hpp"
#include "library/sat/host_sat.hpp"

namespace facesat {
namespace {

constexpr int longest_side = 32768;

void check_array(const ConstArrayView& array, const char* which) {
  const auto& [width, height] = array.size;
  if (!array.data) throw ArgumentError(fmt::format("the {} has no memory", which));
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(width) * bytes_per_element(array.element);
  if (height > 1 && array.pitch < row)
    throw ArgumentError(
        fmt::format("the {} has rows of {} bytes, but a pitch of {}", which, row, array.pitch));
  if (height > 1 && array.pitch % bytes_per_element(array.element) != 0)
    throw ArgumentError(fmt::format("the {} has elements of {} bytes, but a pitch of {}", which,
                                    bytes_per_element(array.element), array.pitch));
}

bool are_compatible(Element input, Element table) {
  if (input != Element::u8) return input == table;
  return table == Element::u32 || table == Element::s32 || table == Element::f32;
}

void check_pair(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  const auto& [width, height] = input.size;
  if (width < 1 || height < 1 || width > longest_side || height > longest_side)
    throw ArgumentError(
        fmt::format("integral images are of 1 x 1 to {0} x {0} elements, not of {1} x {2}",
                    longest_side, width, height));
  const int border = options.exclusive ? 1 : 0;
  if (table.size != Size{width + border, height + border})
    throw ArgumentError(fmt::format("the table of {} x {} elements must have {} x {}, not {} x {}",
                                    width, height, width + border, height + border,
                                    table.size.width, table.size.height));
  if (!are_compatible(input.element, table.element))
    throw ArgumentError(
        "the table must have the element type of the input; that of u8 is u32, s32 or f32");
  if (options.squares && input.element != Element::u8)
    throw ArgumentError("sums of squares are those of u8 only");
  if (input.on_device != table.on_device)
    throw ArgumentError("the input and the table must both be in host memory, or on one device");
}

}  // namespace

void sat(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  check_pair(input, table, options);
  check_array(input, "input");
  check_array(table, "table");
  if (input.on_device) {
    const gpu::KeptDevice kept;
    return gpu::enqueue_array_sat(input, table, options);
  }
  if (!options.algorithm.empty())
    throw BackendError(
        fmt::format("algorithm {}: the algorithms are for arrays on a device", options.algorithm));
  host_sat(input, table, options);
}

std::vector<SatAlgorithmInfo> sat_algorithms() {
  std::vector<SatAlgorithmInfo> all;
  for (const gpu::SatAlgorithm* const sat : gpu::sat_algorithms())
    all.push_back({std::string(sat->id), std::string(sat->title), std::string(sat->paper),
                   sat->year, sat->reads, sat->writes});
  return all;
}

}  // namespace facesat

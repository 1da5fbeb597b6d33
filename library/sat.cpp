// The public sat(): checks what it is given, and chooses between the host and a device.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "facesat.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat {
namespace {

constexpr int longest_side = 32768;

// The types of an array and of its table.
struct Types {
  Element input, table;
  bool on_device;  // there, too
};
constexpr Types all_types[] = {
    {Element::u8, Element::u32, true},   {Element::u8, Element::s32, true},
    {Element::u8, Element::f32, true},   {Element::u8, Element::u64, false},
    {Element::u8, Element::s64, false},  {Element::u8, Element::f64, false},
    {Element::u16, Element::u32, false}, {Element::u16, Element::s32, false},
    {Element::u16, Element::u64, false}, {Element::u16, Element::s64, false},
    {Element::u16, Element::f64, false}, {Element::s16, Element::s32, false},
    {Element::s16, Element::s64, false}, {Element::s16, Element::f64, false},
    {Element::u32, Element::u32, true},  {Element::u32, Element::u64, false},
    {Element::u32, Element::s64, false}, {Element::u32, Element::f64, false},
    {Element::s32, Element::s32, true},  {Element::s32, Element::s64, false},
    {Element::s32, Element::f64, false}, {Element::f32, Element::f32, true},
    {Element::f32, Element::f64, false}, {Element::f64, Element::f64, true},
};

std::string_view name_of(Element element) {
  constexpr std::string_view names[] = {"u8",  "u16", "s16", "u32", "s32",
                                        "u64", "s64", "f32", "f64"};
  return names[static_cast<std::size_t>(element)];
}

void check_types(Element input, Element table, bool squares, bool on_device) {
  std::string tables;
  const Types* found = nullptr;
  for (const Types& types : all_types) {
    if (types.input != input) continue;
    if (types.table == table) found = &types;
    tables += fmt::format("{}{}", tables.empty() ? "" : ", ", name_of(types.table));
  }
  if (tables.empty())
    throw ArgumentError(fmt::format("integral images are not of {}", name_of(input)));
  if (!found)
    throw ArgumentError(fmt::format("the table of an array of {} is of one of {}, not of {}",
                                    name_of(input), tables, name_of(table)));
  if (squares && bytes_per_element(input) > 2)
    throw ArgumentError(
        fmt::format("sums of squares are those of u8, u16 and s16, not of {}", name_of(input)));
  if (on_device && !found->on_device)
    throw BackendError(fmt::format("a table of {} for an array of {} is made in host memory alone",
                                   name_of(table), name_of(input)));
}

void check_array(const ConstArrayView& array, int channels, const char* which) {
  const auto& [width, height] = array.size;
  const int bytes = bytes_per_element(array.element);
  if (!array.data) throw ArgumentError(fmt::format("the {} has no memory", which));
  if (reinterpret_cast<std::uintptr_t>(array.data) % static_cast<unsigned>(bytes) != 0)
    throw ArgumentError(
        fmt::format("the {} has elements of {} bytes, but begins between two", which, bytes));
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(width) * channels * bytes;
  if (height > 1 && array.pitch < row)
    throw ArgumentError(
        fmt::format("the {} has rows of {} bytes, but a pitch of {}", which, row, array.pitch));
  if (height > 1 && array.pitch % bytes != 0)
    throw ArgumentError(fmt::format("the {} has elements of {} bytes, but a pitch of {}", which,
                                    bytes, array.pitch));
}

void check_sizes(Size input, Size table, bool exclusive) {
  const auto& [width, height] = input;
  if (width < 1 || height < 1 || width > longest_side || height > longest_side)
    throw ArgumentError(
        fmt::format("integral images are of 1 x 1 to {0} x {0} elements, not of {1} x {2}",
                    longest_side, width, height));
  const int border = exclusive ? 1 : 0;
  if (table != Size{width + border, height + border})
    throw ArgumentError(fmt::format("the table of {} x {} elements must have {} x {}, not {} x {}",
                                    width, height, width + border, height + border, table.width,
                                    table.height));
}

void check(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  check_sizes(input.size, table.size, options.exclusive);
  if (input.on_device != table.on_device)
    throw ArgumentError("the input and the table must both be in host memory, or on one device");
  check_types(input.element, table.element, options.squares, input.on_device);
  if (options.channels < 1)
    throw ArgumentError(fmt::format("there must be 1 channel or more, not {}", options.channels));
  if (options.channels > 1 && input.on_device)
    throw BackendError("several channels side by side are summed in host memory alone");
  check_array(input, options.channels, "input");
  check_array(table, options.channels, "table");
}

// ---- in host memory
//
// One pass: the sums of the columns so far lie in one row, which stays in the cache, and the sums
// along a row follow from it. A floating-point sum is therefore that of two cumulative sums, first
// down the columns, then along the rows.

template <class T>
const T* row_of(const ConstArrayView& array, int y) {
  return reinterpret_cast<const T*>(static_cast<const std::byte*>(array.data) + y * array.pitch);
}
template <class T>
T* row_of(const ArrayView& array, int y) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(array.data) + y * array.pitch);
}

// Integers are summed as unsigned ones, which may wrap. The channels of a row are summed one after
// the other.
template <class In, class Out>
void sum(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  const auto channels = static_cast<std::size_t>(options.channels);
  const std::size_t row = static_cast<std::size_t>(input.size.width) * channels;
  const int border = options.exclusive ? 1 : 0;
  if (options.exclusive) std::memset(table.data, 0, sizeof(Out) * (row + channels));
  std::vector<Out> columns(row);
  for (int y = 0; y < input.size.height; ++y) {
    const In* const from = row_of<In>(input, y);
    Out* to = row_of<Out>(table, y + border);
    if (options.exclusive) to = std::fill_n(to, channels, Out{});
    for (std::size_t channel = 0; channel < channels; ++channel) {
      Out along{};
      for (std::size_t i = channel; i < row; i += channels) {
        const auto element = static_cast<Out>(from[i]);
        const Out value = options.squares ? element * element : element;
        // The first ones are not added to zeros, which would turn -0 into 0.
        columns[i] = y == 0 ? value : columns[i] + value;
        along = i == channel ? columns[i] : along + columns[i];
        to[i] = along;
      }
    }
  }
}

// A signed element must be converted as such where its table is wider.
template <class In>
void sum_of(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  switch (table.element) {
    case Element::u32:
    case Element::s32:
      return sum<In, std::uint32_t>(input, table, options);
    case Element::u64:
    case Element::s64:
      return sum<In, std::uint64_t>(input, table, options);
    case Element::f32:
      return sum<In, float>(input, table, options);
    case Element::f64:
      return sum<In, double>(input, table, options);
    case Element::u8:
    case Element::u16:
    case Element::s16:
      break;  // no table is of these
  }
}

void host_sat(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  switch (input.element) {
    case Element::u8:
      return sum_of<std::uint8_t>(input, table, options);
    case Element::u16:
      return sum_of<std::uint16_t>(input, table, options);
    case Element::s16:
      return sum_of<std::int16_t>(input, table, options);
    case Element::u32:
      return sum_of<std::uint32_t>(input, table, options);
    case Element::s32:
      return sum_of<std::int32_t>(input, table, options);
    case Element::f32:
      return sum_of<float>(input, table, options);
    case Element::f64:
      return sum_of<double>(input, table, options);
    case Element::u64:
    case Element::s64:
      break;  // of tables alone
  }
}

}  // namespace

void sat(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  check(input, table, options);
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
    all.push_back({std::string(sat->id), std::string(sat->title), std::string(sat->source),
                   sat->year, sat->reads, sat->writes});
  return all;
}

}  // namespace facesat

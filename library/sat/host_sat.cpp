// One pass: the sums of the columns so far lie in one row, which stays in the cache, and the sums
// along a row follow from it. A floating-point sum is therefore that of two cumulative sums, first
// down the columns, then along the rows.
#include "library/sat/host_sat.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace facesat {
namespace {

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

}  // namespace

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

}  // namespace facesat

// One pass: the sums of the columns so far lie in one row, which stays in the cache, and the sums
// along a row follow from it. A floating-point sum is therefore that of two cumulative sums, first
// down the columns, then along the rows.
#include "library/sat/host_sat.hpp"

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

// Integers are summed as unsigned ones, which may wrap.
template <class In, class Out>
void sum(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  const auto [width, height] = input.size;
  const int border = options.exclusive ? 1 : 0;
  if (options.exclusive) std::memset(table.data, 0, sizeof(Out) * (width + 1));
  std::vector<Out> columns(static_cast<std::size_t>(width));
  for (int y = 0; y < height; ++y) {
    const In* const from = row_of<In>(input, y);
    Out* to = row_of<Out>(table, y + border);
    if (options.exclusive) *to++ = 0;
    Out along{};
    for (int x = 0; x < width; ++x) {
      const auto element = static_cast<Out>(from[x]);
      const Out value = options.squares ? element * element : element;
      // The first ones are not added to zeros, which would turn -0 into 0.
      columns[x] = y == 0 ? value : columns[x] + value;
      along = x == 0 ? columns[x] : along + columns[x];
      to[x] = along;
    }
  }
}

template <class Out>
void sum_bytes(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  sum<std::uint8_t, Out>(input, table, options);
}

}  // namespace

void host_sat(const ConstArrayView& input, const ArrayView& table, const SatOptions& options) {
  switch (input.element) {
    case Element::u8:
      return table.element == Element::f32 ? sum_bytes<float>(input, table, options)
                                           : sum_bytes<std::uint32_t>(input, table, options);
    case Element::s32:
    case Element::u32:
      return sum<std::uint32_t, std::uint32_t>(input, table, options);
    case Element::f32:
      return sum<float, float>(input, table, options);
    case Element::f64:
      return sum<double, double>(input, table, options);
  }
}

}  // namespace facesat

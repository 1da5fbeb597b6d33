// Sums over windows from integral images (summed area tables), in constant time for any radius and
// border, without padding the picture.
#pragma once

#include <cstddef>

#include "filters/interval.hpp"
#include "kernels/filter/pass.cuh"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// An integral image with its zero borders. It is exclusive as prefix sums are in
// filters/interval.hpp: prefix(i, j) is the sum of the first i elements of the first j rows.
template <class T>
struct WindowTable {
  using Element = T;

  Size size;           // of the picture
  T* first = nullptr;  // element (0, 0) of the inclusive table
  std::ptrdiff_t pitch = 0;

  // Where prefix(i, j) is; those of the same j are adjacent.
  __device__ __forceinline__ const T* place(int i, int j) const {
    return first + (j - 1) * pitch + i - 1;
  }
  __device__ __forceinline__ T prefix(int i, int j) const { return *place(i, j); }

  // Whether the windows around the pixels from (x, y) to (last_x, y) lie within the picture.
  __device__ __forceinline__ bool is_inside(int x, int last_x, int y, Radius radius) const {
    return x >= radius.x && last_x + radius.x < size.width && y >= radius.y &&
           y + radius.y < size.height;
  }

  // The sum of the window around pixel (x, y).
  __device__ __forceinline__ T sum(int x, int y, Radius radius, Border border) const {
    const int left = x - radius.x, right = x + radius.x + 1;
    const int top = y - radius.y, bottom = y + radius.y + 1;
    if (is_inside(x, x, y, radius))
      return prefix(right, bottom) - prefix(left, bottom) -
             (prefix(right, top) - prefix(left, top));
    return combined(interval_sum(left, right, size.width, border),
                    interval_sum(top, bottom, size.height, border));
  }

 private:
  __device__ T combined(const PrefixCombination& across, const PrefixCombination& down) const {
    T sum{};
    FACESAT_UNROLL
    for (int j = 0; j < PrefixCombination::terms; ++j) {
      if (down.factors[j] == 0) continue;
      T row{};
      FACESAT_UNROLL
      for (int i = 0; i < PrefixCombination::terms; ++i)
        if (across.factors[i] != 0)
          row += static_cast<T>(across.factors[i]) * prefix(across.places[i], down.places[j]);
      sum += static_cast<T>(down.factors[j]) * row;
    }
    return sum;
  }
};

// ---- the memory of a table, in a workspace that was zero before its first use

inline constexpr std::ptrdiff_t table_line = 128;  // bytes

inline std::ptrdiff_t table_pitch(Size size, std::size_t element) {
  const auto bytes = static_cast<std::ptrdiff_t>(element);
  return (size.width * bytes + table_line - 1) / table_line * (table_line / bytes) +
         table_line / bytes;
}
inline std::size_t table_bytes(Size size, std::size_t element) {
  return round_up_256(static_cast<std::size_t>(table_pitch(size, element)) *
                      static_cast<std::size_t>(size.height + 1) * element);
}
// The table's borders are the line before each row, and the row above.
template <class T>
WindowTable<T> table_in(void* memory, Size size) {
  const std::ptrdiff_t pitch = table_pitch(size, sizeof(T));
  return {size, static_cast<T*>(memory) + pitch + table_line / static_cast<int>(sizeof(T)), pitch};
}

inline const SatAlgorithm& sat_or_default(const SatAlgorithm* sat) {
  return sat ? *sat : *sat_algorithms().front();
}

// Enqueues the table of the values and that of their squares; the latter may be empty.
template <class In, class T>
void enqueue_tables(SatType type, View<const In> picture, const WindowTable<T>& sum,
                    const WindowTable<T>& squared_sum, const SatAlgorithm& sat, void* workspace,
                    StreamHandle stream) {
  SatTask task{.type = type,
               .size = picture.size,
               .input = picture.data,
               .input_pitch = picture.pitch,
               .sum = sum.first,
               .sum_pitch = sum.pitch,
               .squared_sum = squared_sum.first,
               .squared_pitch = squared_sum.pitch,
               .parameter = sat.value};
  sat.enqueue(task, workspace, stream);
}

// ---- pictures of real numbers of 64 bits, whose tables are exact for whole numbers up to 2^53

inline constexpr int power_width = 32, power_height = 8;  // threads of a block

template <int power, class In>
__global__ void power_kernel(View<const In> picture, View<double> powers) {
  const auto [x, y] = pixel_of_thread();
  if (x >= picture.size.width || y >= picture.size.height) return;
  const auto value = static_cast<double>(picture.row(y)[x]);
  double result = value;
  for (int i = 1; i < power; ++i) result *= value;
  powers.row(y)[x] = result;
}

inline View<double> doubles_in(void* memory, Size size) {
  return {static_cast<double*>(memory), size, table_pitch(size, sizeof(double))};
}
inline std::size_t bytes_of_doubles(Size size) {
  return round_up_256(static_cast<std::size_t>(table_pitch(size, sizeof(double))) *
                      static_cast<std::size_t>(size.height) * sizeof(double));
}

// What enqueue_table_of_powers() needs besides the table.
inline std::size_t powers_workspace_bytes(Size size, const SatAlgorithm& sat) {
  return bytes_of_doubles(size) + sat.workspace_bytes(SatType::f64_f64, size);
}

// Enqueues the table of the elements' powers.
template <int power, class In>
void enqueue_table_of_powers(View<const In> picture, const WindowTable<double>& table,
                             const SatAlgorithm& sat, void* workspace, StreamHandle stream) {
  const View<double> powers = doubles_in(workspace, picture.size);
  FACESAT_LAUNCH((power_kernel<power, In>), grid_of(picture.size, power_width, power_height),
                 dim3(power_width, power_height), stream, picture, powers);
  enqueue_tables<double>(SatType::f64_f64, powers, table, {}, sat,
                         static_cast<std::byte*>(workspace) + bytes_of_doubles(picture.size),
                         stream);
}

}  // namespace facesat::gpu

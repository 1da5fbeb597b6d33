// Algorithms for integral images and prefix scans on the CPU, which benchmarks compare with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/image.hpp"
#include "kernels/scan/operators.hpp"

namespace facesat::lab {

// ---- sequential algorithms for the integral image (summed area table, SAT), the CPU baseline of
// A. Kasagi, K. Nakano, Y. Ito: "Parallel Algorithms for the Summed Area Table on the Asynchronous
// Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section VIII. One thread,
// raster scan order. Two things differ from the paper: all types of kernels/sat/algorithm.hpp are
// supported, and the table is separate from the picture, where the paper works in place.
//
// A table has the picture's size and, as in core/image.hpp, a border (row -1 and column -1) that is
// zero on entry and stays zero. Out is the second type that gpu::visit_types() passes; integer
// types are unsigned, so that sums may wrap.

// The names of the CPU's algorithms: the three below, and the CPU backend's own integral()
// (core/cpu/integral.hpp).
constexpr const char *id_2r2w = "cpu_2r2w", *id_4r1w = "cpu_4r1w", *id_blocks = "cpu_blocks",
                     *id_backend = "cpu_backend";

enum class Summed { values, squares };

template <Summed summed, class Out, class In>
Out summand(In pixel) {
  const Out v = static_cast<Out>(pixel);
  return summed == Summed::squares ? v * v : v;
}

// 2R2W(CPU), two reads and two writes per element: running sums down the columns, then along the
// rows.
template <Summed summed, class In, class Out>
void cpu_2r2w(View<const In> picture, View<Out> table) {
  const auto [width, height] = picture.size;
  for (int y = 0; y < height; ++y) {
    const In* const pixels = picture.row(y);
    const Out* const above = table.row(y - 1);
    Out* const row = table.row(y);
    for (int x = 0; x < width; ++x) row[x] = above[x] + summand<summed, Out>(pixels[x]);
  }
  for (int y = 0; y < height; ++y) {
    Out* const row = table.row(y);
    for (int x = 0; x < width; ++x) row[x] += row[x - 1];
  }
}

// 4R1W(CPU), four reads and one write per element: the paper's formula (1) gives each element from
// its pixel and three neighbours. The paper has the signs of the neighbours reversed; here they are
// correct.
template <Summed summed, class In, class Out>
void cpu_4r1w(View<const In> picture, View<Out> table) {
  const auto [width, height] = picture.size;
  for (int y = 0; y < height; ++y) {
    const In* const pixels = picture.row(y);
    const Out* const above = table.row(y - 1);
    Out* const row = table.row(y);
    for (int x = 0; x < width; ++x)
      row[x] = row[x - 1] + (above[x] - above[x - 1] + summand<summed, Out>(pixels[x]));
  }
}

// ---- an algorithm for all threads of oneTBB, with types and tables as above

// Bands of rows are divided into blocks, one for each thread, that stay in its cache: first every
// block sums along its rows, then it adds the totals of the blocks to the left, and the row of the
// table above. So memory is read and written once, and threads wait for each other twice per band.
// Source: A. Papatriantafyllou, D. Sacharidis, "High Performance Parallel Summed-Area Table Kernels
// for Multi-core and Many-core Systems", Euro-Par 2016; written from its abstract and introduction.
template <Summed summed, class In, class Out>
void cpu_blocks(View<const In> picture, View<Out> table) {
  const int width = picture.size.width, height = picture.size.height;
  constexpr int cached_bytes = 256 << 10, alignment = 64 / sizeof(Out);
  const int threads = tbb::this_task_arena::max_concurrency();
  const int columns = ((width + threads - 1) / threads + alignment - 1) / alignment * alignment;
  const int blocks = (width + columns - 1) / columns;
  const int most_rows =
      std::max(1, cached_bytes / (columns * static_cast<int>(sizeof(In) + sizeof(Out))));
  std::vector<Out> totals(static_cast<std::size_t>(blocks) * most_rows);  // of blocks' rows
  for (int top = 0; top < height; top += most_rows) {
    const int rows = std::min(most_rows, height - top);
    const auto for_each_block = [&](auto visit) {
      tbb::parallel_for(
          0, blocks,
          [&](int block) {
            const int left = block * columns, right = std::min(left + columns, width);
            for (int y = 0; y < rows; ++y)
              visit(block, left, right, top + y, &totals[static_cast<std::size_t>(y) * blocks]);
          },
          tbb::static_partitioner());  // gives a thread the same block again
    };
    for_each_block([&](int block, int left, int right, int y, Out* of_row) {
      const In* const pixels = picture.row(y);
      Out* const row = table.row(y);
      Out sum{};
      for (int x = left; x < right; ++x) row[x] = sum += summand<summed, Out>(pixels[x]);
      of_row[block] = sum;
    });
    for_each_block([&](int block, int left, int right, int y, const Out* of_row) {
      const Out* const above = table.row(y - 1);
      Out* const row = table.row(y);
      Out before{};
      for (int other = 0; other < block; ++other) before += of_row[other];
      for (int x = left; x < right; ++x) row[x] += before + above[x];
    });
  }
}

// ---- prefix scans. Elements and operators are those of kernels/scan/operators.hpp; input and
// output may be the same array.

// One thread, from the first element to the last. `sum` is the combination of all elements before.
template <gpu::ScanOperator op, class T>
void scan_serially(std::span<const T> input, T* output, bool is_inclusive, T sum) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const T next = gpu::combine(op, sum, input[i]);
    output[i] = is_inclusive ? next : sum;
    sum = next;
  }
}

// One thread, for orders and tuples (ScanTask): an array after the other.
template <gpu::ScanOperator op, class T>
void scan_tuples_serially(std::span<const T> input, T* output, bool is_inclusive, int order,
                          int tuple) {
  for (int k = 0; k < order; ++k) {
    std::vector<T> sums(static_cast<std::size_t>(tuple), gpu::identity_of<T>(op));
    std::size_t place = 0;
    for (std::size_t i = 0; i < input.size(); ++i) {
      const T next = gpu::combine(op, sums[place], input[i]);
      output[i] = is_inclusive ? next : sums[place];
      sums[place] = next;
      if (++place == sums.size()) place = 0;
    }
    input = {output, input.size()};
  }
}

// Two passes over the array, which is read twice: the `parts` are reduced in parallel, their
// totals scanned, and then each part is scanned from the total of those before it.
template <gpu::ScanOperator op, class T>
void scan_in_parts(std::span<const T> input, T* output, bool is_inclusive, std::size_t parts) {
  const std::size_t length = (input.size() + parts - 1) / parts;
  const auto part = [&](std::size_t p) {
    const std::size_t begin = std::min(p * length, input.size());
    return input.subspan(begin, std::min(length, input.size() - begin));
  };
  std::vector<T> totals(parts);
  tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t p) {
    T sum = gpu::identity_of<T>(op);
    for (const T element : part(p)) sum = gpu::combine(op, sum, element);
    totals[p] = sum;
  });
  scan_serially<op, T>(totals, totals.data(), false, gpu::identity_of<T>(op));
  tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t p) {
    const std::span<const T> elements = part(p);
    scan_serially<op, T>(elements, output + (elements.data() - input.data()), is_inclusive,
                         totals[p]);
  });
}

}  // namespace facesat::lab

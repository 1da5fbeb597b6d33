// Prefix scans on the CPU. Elements and operators are those of kernels/scan/operators.hpp; input
// and output may be the same array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <tbb/parallel_for.h>

#include "kernels/scan/operators.hpp"

namespace facesat::lab {

// One thread, from the first element to the last. `sum` is the combination of all elements before.
template <gpu::ScanOperator op, class T>
void scan_serially(std::span<const T> input, T* output, bool is_inclusive, T sum) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    const T next = gpu::combine(op, sum, input[i]);
    output[i] = is_inclusive ? next : sum;
    sum = next;
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

// Summarises measurements, in the same way for every table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace facesat::app {

// The q-quantile (0 .. 1) by nearest rank: the smallest measurement x for which at least the
// fraction q of all measurements are <= x. They must be sorted, and there must be at least one.
inline double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace facesat::app

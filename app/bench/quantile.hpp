// How measurements are summarised in every table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace facesat::app {

// By nearest rank. The measurements must be sorted, and there must be at least one.
inline double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace facesat::app

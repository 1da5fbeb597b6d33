// The times in a row of a table, in the same way for every table of kernels.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "app/bench/quantile.hpp"

namespace facesat::app {

// Adds the median, the smallest and the 95th percentile of `us`, sorted times in microseconds; what
// the median is to `floor_us`, unless that is 0; and the throughput of an algorithm that has to
// move `bytes`.
inline void add_times(nlohmann::ordered_json& row, const std::vector<double>& us, double floor_us,
                      double bytes) {
  const double median_us = quantile(us, 0.5);
  row["median_us"] = median_us;
  row["min_us"] = us.front();
  row["p95_us"] = quantile(us, 0.95);
  if (floor_us > 0) {
    row["floor_us"] = floor_us;
    row["ratio"] = median_us / floor_us;
  }
  row["gb_per_s"] = bytes / median_us / 1000;
}

}  // namespace facesat::app

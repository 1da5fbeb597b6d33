// The charts of the HTML pages of benchmarks. Each takes the rows of one type of elements, and is
// empty if there is nothing to show.
#pragma once

#include <span>
#include <string>

#include "app/bench/report/looks.hpp"
#include "app/bench/report/rows.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::app::report {

// Ratios to the floor (a kernel that only reads the input and writes the output) against the size.
std::string ratio_chart(const Rows& rows, const Looks& looks);

// Speed-ups over opencv_style against the size of the picture.
std::string speedup_chart(const Rows& rows, const Looks& looks);

// For each size, the times in order, the fastest first.
std::string order_charts(const Rows& rows);

// For each algorithm that was measured with several values of its parameter, the times against the
// value, with a line for each size.
std::string parameter_charts(const Rows& rows,
                             std::span<const gpu::SatAlgorithm* const> algorithms);

// Measured times against those that the models predict.
std::string model_chart(const Rows& rows, const Looks& looks);

}  // namespace facesat::app::report

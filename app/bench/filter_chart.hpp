// The chart of the HTML page of `facesat bench filter`.
#pragma once

#include <string>

#include "app/bench/report/looks.hpp"
#include "app/bench/report/rows.hpp"

namespace facesat::app {

// Times against the radius of the filter, which is a row's `value`, with a line for each algorithm
// and for the floor (a kernel that only reads the picture and writes the result), and a legend.
// `rows` are those of one filter and size. Empty if fewer than two radii were measured.
std::string radius_chart(const report::Rows& rows, const report::Looks& looks);

}  // namespace facesat::app

// The charts of the HTML page of `facesat bench sat`. Each takes the rows of one type of picture
// and table, and is empty if there is nothing to show.
#pragma once

#include <string>

#include "app/bench/report/looks.hpp"
#include "app/bench/report/rows.hpp"

namespace facesat::app::report {

// Ratios to the floor (a kernel that only reads the picture and writes the table) against the size
// of the picture.
std::string ratio_chart(const Rows& rows, const Looks& looks);

// For each size, the times in order, the fastest first.
std::string order_charts(const Rows& rows);

// Measured times against those that the models predict.
std::string model_chart(const Rows& rows, const Looks& looks);

}  // namespace facesat::app::report

// The charts of the page as HTML. Each takes the rows of one type, and is empty if there is nothing
// to show.
#pragma once

#include <string>

#include "app/bench/report/looks.hpp"
#include "app/bench/report/rows.hpp"

namespace facesat::app::report {

// Ratios to the floor against the size of the picture.
std::string ratio_chart(const Rows& rows, const Looks& looks);

// For each size, the times in order, the fastest first.
std::string order_charts(const Rows& rows);

// Measured times against those that the models predict.
std::string model_chart(const Rows& rows, const Looks& looks);

}  // namespace facesat::app::report

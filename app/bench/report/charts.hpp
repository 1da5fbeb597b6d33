// The charts of the page: for rows of one type, as HTML; empty where there is nothing to show.
#pragma once

#include <string>

#include "app/bench/report/looks.hpp"
#include "app/bench/report/rows.hpp"

namespace facesat::app::report {

// The ratios to the floor against the size of the picture.
std::string ratio_chart(const Rows& rows, const Looks& looks);

// For each size the times in order, the fastest first.
std::string order_charts(const Rows& rows);

// Measured times against those of the models.
std::string model_chart(const Rows& rows, const Looks& looks);

}  // namespace facesat::app::report

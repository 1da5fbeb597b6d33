// The tables of the page.
#pragma once

#include <string>
#include <vector>

#include "app/bench/report/looks.hpp"
#include "app/bench/report/rows.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::app::report {

// All figures of the rows of one type, or the reason why one was not measured.
std::string figures_table(const Rows& rows);

// What the rows' ids stand for, with the markers that they have in the charts.
std::string algorithms_table(const Rows& rows, std::span<const gpu::SatAlgorithm* const> algorithms,
                             const Looks& looks);

}  // namespace facesat::app::report

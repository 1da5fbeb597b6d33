// The HTML page of a benchmark, as far as all problems have it in common.
#pragma once

#include <string>
#include <string_view>

#include "lab/page/rows.hpp"

namespace facesat::lab {

// A sentence on the fastest algorithm with correct results, at the largest size.
std::string winner(const Rows& rows);

// All figures of the rows of a section; for a row that was not measured, the reason.
std::string figures_table(const Rows& rows);

// A table that scrolls where the window is narrow; head and body are HTML. `kind`: its CSS class.
std::string table(const std::string& head, const std::string& body, const std::string& kind = "");

// A cell with a number, or with a dash if it is not positive; a cell with text.
std::string figure_cell(double value, int decimals);
std::string words_cell(std::string_view text);

}  // namespace facesat::lab

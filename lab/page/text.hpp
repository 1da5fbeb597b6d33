// Text and tables of the HTML pages of benchmarks.
#pragma once

#include <string>
#include <string_view>

#include "lab/page/rows.hpp"

namespace facesat::lab {

// Escapes text for elements and attributes. Control characters become spaces, because XML does not
// allow them.
std::string escaped(std::string_view text);

// A number with `decimals` decimals; thousands are separated by narrow no-break spaces.
std::string figure(double value, int decimals);

std::string tick_text(double tick);  // the label of an axis tick
std::string microseconds(double us);
std::string multiple(double ratio);     // "1.50×"
std::string size_text(const Row& row);  // "1920×1080", "2^20", "1000"

// An SVG <title>: what is shown when the pointer is over the marker around it.
std::string tooltip(const Row& row);

// ---- tables

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

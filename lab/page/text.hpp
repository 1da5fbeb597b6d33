// Text and tables of the HTML pages of benchmarks.
#pragma once

#include <string>

#include "lab/page/rows.hpp"
#include "support/html.hpp"
#include "support/html_chart.hpp"

namespace facesat::lab {

using html::escaped;
using html::figure;
using html::table;
using html::tick_text;
using html::words_cell;

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

// A cell with a number, or with a dash if it is not positive.
std::string figure_cell(double value, int decimals);

}  // namespace facesat::lab

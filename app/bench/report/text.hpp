// Figures and names in the page's words.
#pragma once

#include <string>
#include <string_view>

#include "app/bench/report/rows.hpp"

namespace facesat::app::report {

// For text and attributes alike; XML has no place for other control characters.
std::string escaped(std::string_view text);

// Thousands apart, by narrow spaces that no line breaks at.
std::string figure(double value, int decimals);

std::string tick_text(double tick);  // of an axis
std::string microseconds(double us);
std::string multiple(double ratio);     // "1.50×"
std::string size_text(const Row& row);  // "1920×1080"
std::string type_text(const Row& row);  // "8-bit unsigned pictures, ..."

// An element with what a reader learns who points at the mark around it.
std::string tooltip(const Row& row);

}  // namespace facesat::app::report

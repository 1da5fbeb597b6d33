// What tells the algorithms apart in every chart of the page.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "app/bench/report/rows.hpp"

namespace facesat::app::report {

// Families of algorithms, by the word before the first underscore, differ by colour; their members
// by mark. Where either run out, dashes tell the rest apart.
struct Look {
  int color = -1, marker = 0, dash = 0;  // no colour: the floor and the copy

  std::string classes() const;  // of CSS
};
using Looks = std::map<std::string, Look>;

Looks looks_of(const Rows& rows);

// The marks, which the page holds once.
extern const std::string_view marker_shapes;

// A mark on a piece of line, for tables and keys.
std::string swatch(const Look& look);

}  // namespace facesat::app::report

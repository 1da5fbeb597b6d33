// Distinguishes algorithms by colour, marker and dashes, in the same way in every chart of a
// benchmark's HTML page.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lab/page/rows.hpp"

namespace facesat::lab {

// Families of algorithms (the part of the id before the first underscore) differ in colour, and
// their members in marker. Once colours or markers run out, dashes distinguish the rest.
struct Look {
  // Numbers of a colour, marker shape and dash pattern. Colour -1: the references, which are the
  // floor (a kernel that only reads the picture and writes the table) and memcpy.
  int color = -1, marker = 0, dash = 0;

  std::string classes() const;  // CSS classes
};
using Looks = std::map<std::string, Look>;  // by the algorithm's id

Looks looks_of(const Rows& rows);

// The definitions of the markers, which the page contains once.
extern const std::string_view marker_shapes;

// A marker on a piece of line, for tables and legends.
std::string swatch(const Look& look);

}  // namespace facesat::lab

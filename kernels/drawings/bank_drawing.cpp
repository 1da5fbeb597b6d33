#include <algorithm>

#include <fmt/format.h>

#include "kernels/drawings/drawing.hpp"
#include "kernels/drawings/sheet.hpp"

namespace facesat::drawings {
namespace {

constexpr int cell = 5, side = cell * static_cast<int>(WarpAccess::banks), left = 40, top = 34,
              gap = 60;

void draw_access(Sheet& sheet, const WarpAccess& access, int x) {
  sheet.text(x, top - 18, 11, access.is_write ? "the second write" : "the second read");
  sheet.text(x, top - 5, 10, "bank 0 to 31, from left to right");
  sheet.rectangle(x, top, side, side, "#f0f0f0");
  for (std::size_t lane = 0; lane < access.words.size(); ++lane)
    sheet.rectangle(x + static_cast<int>(access.words[lane] % WarpAccess::banks) * cell,
                    top + static_cast<int>(lane) * cell, cell - 0.5, cell - 0.5,
                    access.is_write ? "#d9722e" : "#2f7fc1");
}

}  // namespace

std::string draw_banks(const std::vector<WarpAccess>& accesses) {
  Sheet sheet(2 * side + left + gap + 20);
  sheet.text(4, top + 9, 10, "lane 0");
  sheet.text(4, top + side - 1, 10, "31");
  int x = left, most = 0;
  for (const WarpAccess& access : accesses) most = std::max(most, access.turns());
  for (const bool is_write : {true, false}) {
    int before = 0;
    for (const WarpAccess& access : accesses)
      if (access.is_write == is_write && before++ == 1) draw_access(sheet, access, x);
    x += side + gap;
  }
  sheet.text(left, top + side + 16, 10,
             fmt::format("{} accesses; at most {} different word{} in a bank", accesses.size(),
                         most, most == 1 ? "" : "s"));
  return sheet.finish(top + side + 26);
}

}  // namespace facesat::drawings

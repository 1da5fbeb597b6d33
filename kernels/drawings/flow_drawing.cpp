#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "kernels/drawings/drawing.hpp"
#include "kernels/drawings/sheet.hpp"

namespace facesat::drawings {
namespace {

constexpr unsigned elements = 8;
constexpr int spacing = 34, row = 26, left = 30, top = 24, most_rows = 8;

// By step and array: from which elements before the step to which after it.
using Steps = std::map<std::pair<unsigned, int>, std::vector<std::pair<unsigned, unsigned>>>;

Steps steps_of(const std::vector<Flow>& launch) {
  Steps steps;
  for (const Flow& flow : launch)
    if (flow.from < elements && flow.to < elements)
      steps[{flow.step, flow.array}].emplace_back(flow.from, flow.to);
  return steps;
}

std::size_t lines_of(const Steps& steps) {
  std::size_t count = 0;
  for (const auto& [step, flows] : steps) count += flows.size();
  return count;
}

}  // namespace

std::string draw_flow(const std::vector<std::vector<Flow>>& launches) {
  Steps steps;
  for (const std::vector<Flow>& launch : launches)
    if (Steps of_launch = steps_of(launch); lines_of(of_launch) >= lines_of(steps))
      steps = std::move(of_launch);
  if (steps.empty()) return "";
  constexpr int right = left + static_cast<int>(elements - 1) * spacing;
  Sheet sheet(right + 110);
  for (unsigned i = 0; i < elements; ++i)
    sheet.text(left + static_cast<int>(i) * spacing, top - 8, 10, fmt::format("{}", i),
               Sheet::Anchor::middle);
  std::set<std::pair<int, std::vector<std::pair<unsigned, unsigned>>>> drawn;
  int y = top, rows = 0;
  for (const auto& [step, flows] : steps) {
    if (rows == most_rows) {
      sheet.text(left, y + 18, 10, "and so on");
      break;
    }
    if (!drawn.insert({step.second, flows}).second) continue;  // as an earlier one
    ++rows;
    const bool is_shuffle = step.second < 0;
    for (unsigned i = 0; i < elements; ++i) {
      const int x = left + static_cast<int>(i) * spacing;
      sheet.line(x, y, x, y + row, "#bbbbbb");
    }
    for (const auto& [from, to] : flows)
      sheet.line(left + static_cast<int>(from) * spacing, y, left + static_cast<int>(to) * spacing,
                 y + row, is_shuffle ? "#2f7fc1" : "#d9722e");
    sheet.text(right + 14, y + row / 2 + 4, 10, is_shuffle ? "shuffle" : "shared memory");
    y += row;
    for (unsigned i = 0; i < elements; ++i)
      sheet.rectangle(left + static_cast<int>(i) * spacing - 2, y - 2, 4, 4, "#222222");
  }
  return sheet.finish(y + 24);
}

}  // namespace facesat::drawings

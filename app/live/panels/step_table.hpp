// The medians of the steps as a bar and as a table. The table is the legend of the bar and of the
// chart, and switches steps off and on.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/live/detection/history.hpp"

namespace facesat::app {

using HiddenSteps = std::set<std::string>;  // by their names

struct StepRow {
  std::size_t step;
  std::string name;
  History::StepSummary median;
};
using StepRows = std::vector<StepRow>;
StepRows step_rows(const History& history);

ImU32 step_colour(std::size_t step);

// The steps that are not hidden, from left to right, as long as their medians.
void draw_step_bar(const StepRows& rows, const HiddenSteps& hidden);

// One row per step. A click on a step's name hides it or shows it again.
void draw_step_table(const StepRows& rows, HiddenSteps& hidden);

}  // namespace facesat::app

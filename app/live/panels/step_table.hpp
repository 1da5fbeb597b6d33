// The medians of the steps as a bar and as a table. The table is the legend of the bar and of the
// chart, and switches steps off and on.
#pragma once

#include <array>
#include <bitset>

#include <imgui.h>

#include "app/live/detection/history.hpp"

namespace facesat::app {

using HiddenSteps = std::bitset<live_step_count>;
using StepSummaries = std::array<History::StepSummary, live_step_count>;

ImU32 step_colour(std::size_t step);

// The steps that are not hidden, from left to right, as long as their medians.
void draw_step_bar(const StepSummaries& steps, const HiddenSteps& hidden);

// One row per step. A click on a step's name hides it or shows it again.
void draw_step_table(const StepSummaries& steps, HiddenSteps& hidden);

}  // namespace facesat::app

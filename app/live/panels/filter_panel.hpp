// The panel of the filter whose result is shown, and of the times of its algorithms.
#pragma once

#include "app/live/detection/history.hpp"
#include "app/live/detection/live_result.hpp"

namespace facesat::app {

// Returns true if the choice changed. last: the result that is shown; history: of such results.
bool draw_filter(FilterChoice& choice, const LiveResult& last, const History& history);

}  // namespace facesat::app

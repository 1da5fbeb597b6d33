// The parts of the panel of the view.
#pragma once

#include "app/live/detection/history.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/panels/features.hpp"

namespace facesat::app {

// Selects which intermediate picture of the detector is shown; returns true if the selection
// changed. `opacity`: that of the picture over the frame, in percent, which is not a part of the
// selection.
bool draw_inspection(Inspection& inspection, int level_count, int& opacity);

// The filter whose result is shown, and the times of its algorithms. Returns true if the choice
// changed. last: the result that is shown; history: of such results.
bool draw_filter(FilterChoice& choice, const LiveResult& last, const History& history);

}  // namespace facesat::app

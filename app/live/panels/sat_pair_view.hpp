// Shows the two pinned SAT (summed area table) algorithms side by side.
#pragma once

#include <string>

#include "app/live/panels/sat_pair.hpp"

namespace facesat::app {

// Names and times of A and B, and the controls of their turns. in_use: the algorithm that runs now.
// Returns true if the user wants to switch.
bool draw_pair(SatPair& pair, const std::string& in_use);

}  // namespace facesat::app

// A comparison of SAT (summed area table) algorithms as files.
#pragma once

#include <string>

#include "app/live/detection/comparison.hpp"

namespace facesat::app {

// As CSV (RFC 4180), a line for each algorithm: its times in milliseconds and as multiples of a
// plain copy, whether its results are right, and the frame.
std::string comparison_csv(const Comparison& comparison);

// As an HTML page like those of `facesat bench sat --report`.
std::string comparison_page(const Comparison& comparison);

}  // namespace facesat::app

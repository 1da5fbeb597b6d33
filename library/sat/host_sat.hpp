// Integral images (summed area tables) of arrays in host memory.
#pragma once

#include "facesat.hpp"

namespace facesat {

// As sat() in host memory. `input` and `table` have passed its checks.
void host_sat(const ConstArrayView& input, const ArrayView& table, const SatOptions& options);

}  // namespace facesat

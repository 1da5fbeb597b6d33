// Compares cascades that grow by stages.
#pragma once

#include "core/cascade.hpp"

namespace facesat::train {

// Does `cascade` begin with all stages of `part`, so that it accepts no window that `part` rejects?
// The numbers of features do not matter, nor do the names of cascades.
bool begins_with(const Cascade& cascade, const Cascade& part);

}  // namespace facesat::train

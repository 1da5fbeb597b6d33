// Compares cascades that grow by stages.
#pragma once

#include "core/cascade.hpp"

namespace facesat::training {

bool are_equal(const HaarFeature& a, const HaarFeature& b);

// Does `cascade` begin with all stages of `part`, so that it accepts no window that `part` rejects?
// The numbers of features do not matter, nor do the names of cascades.
bool begins_with(const Cascade& cascade, const Cascade& part);

// The cascade without the trees and features that none of its stages uses.
Cascade without_unused(const Cascade& cascade);

}  // namespace facesat::training

// Sentences of the HTML page of `facesat bench filter`.
#pragma once

#include <string>

#include "app/bench/report/rows.hpp"

namespace facesat::app {

// From which radius on (a row's `value`) one method is faster than another, in HTML: a box from an
// integral image compared with direct and with separable convolutions and with NPP, and so on for
// the other methods. Each method is represented by its fastest algorithm at each radius. `rows` are
// those of one filter and size, without algorithms that are not to be compared. Wrong rows do not
// count; comparisons that lack rows are left out.
std::string comparisons(const report::Rows& rows);

}  // namespace facesat::app

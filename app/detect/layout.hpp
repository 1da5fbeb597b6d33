// Derives from the command line the layout of results, and the options that the results depend on.
#pragma once

#include <memory>
#include <vector>

#include "app/detect/options.hpp"
#include "core/cascade.hpp"
#include "results/journal.hpp"
#include "results/results.hpp"

namespace facesat::app {

// The results call a cascade by its name; cascades that share a name are called by the arguments
// given for them on the command line.
Layout layout_of(const DetectCommand& command,
                 const std::vector<std::shared_ptr<const Cascade>>& cascades);

// The options that a resumed run must share with the first one: see journal.hpp.
ResultOptions result_options(const DetectCommand& command, const Layout& layout);

}  // namespace facesat::app

// What the command line says about the form of results, and what they depend on.
#pragma once

#include <memory>
#include <vector>

#include "app/detect/options.hpp"
#include "core/cascade.hpp"
#include "library/io/journal.hpp"
#include "library/io/results.hpp"

namespace facesat::app {

// Cascades of one name are told apart by what the command line calls them.
Layout layout_of(const DetectCommand& command,
                 const std::vector<std::shared_ptr<const Cascade>>& cascades);

ResultOptions result_options(const DetectCommand& command, const Layout& layout);

}  // namespace facesat::app

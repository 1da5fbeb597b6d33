// Completion of the command line by bash.
#pragma once

#include <string>
#include <vector>

#include "app/reference/command_list.hpp"

namespace facesat::app {

// A script for the package bash-completion. `ids` are the SAT algorithms, `types` the types of
// pictures and tables that options offer.
std::string bash_completion(const std::vector<CommandText>& commands,
                            const std::vector<std::string>& ids,
                            const std::vector<std::string>& types);

}  // namespace facesat::app

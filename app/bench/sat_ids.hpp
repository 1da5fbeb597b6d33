// The ids of the rows of `facesat bench sat`: "id", or "id:value" for an algorithm with a
// parameter.
#pragma once

#include <string>
#include <vector>

#include "core/image.hpp"

namespace facesat::app {

bool contains(const std::vector<std::string>& ids, const std::string& id);

// The id of "id" and of "id:value".
std::string base_of(const std::string& text);

// Are all algorithms requested?
bool wants_all(const std::vector<std::string>& asked);

// The requested ids, in the order of the rows; "all" includes the values of parameters that papers
// have figures for. Without a GPU (`no_gpu` says why), "all" means those of the CPU. Throws
// UsageError if there is no such algorithm, or if it needs a GPU.
std::vector<std::string> chosen_ids(const std::vector<std::string>& asked,
                                    const std::string& no_gpu);

bool has_parameter(const std::string& id);

// For each of the chosen algorithms that has a parameter: the ids of the values to try for pictures
// of this size, without those that are chosen anyway.
std::vector<std::string> searched_ids(const std::vector<std::string>& chosen, Size size);

}  // namespace facesat::app

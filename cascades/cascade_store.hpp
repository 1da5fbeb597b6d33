// Finds cascades by name, as given on the command line.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cascade.hpp"

namespace facesat {

// The file for this name or path on this machine, if there is one. A path is not checked.
std::optional<std::filesystem::path> cascade_file(const std::string& name);

// The XML of the default cascade, embedded at build time.
std::string_view embedded_cascade();

}  // namespace facesat

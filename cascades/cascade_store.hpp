// Finds cascades by name, as given on the command line.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cascade.hpp"
#include "facesat.hpp"  // find_cascade()

namespace facesat {

// Whether find_cascade() reads the file of this name instead of looking for an installed cascade:
// if there is a file of this name, with any extension or none.
bool names_file(const std::string& name);

// The file for this name or path on this machine, if there is one.
std::optional<std::filesystem::path> cascade_file(const std::string& name);

// The XML of the default cascade, embedded at build time.
std::string_view embedded_cascade();

}  // namespace facesat

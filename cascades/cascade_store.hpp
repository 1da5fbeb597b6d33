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

constexpr std::string_view default_cascade_name = "frontalface_default";

// `name` is the name of one of OpenCV's files without "haarcascade_" and ".xml"
// (frontalface_default), such a name with "lbp:" in front for "lbpcascade_" (lbp:frontalface), or a
// path. Cascade::name becomes `name`, or the stem of a path. Throws CascadeError.
std::shared_ptr<const Cascade> find_cascade(const std::string& name);

// The file for this name or path on this machine, if there is one. A path is not checked.
std::optional<std::filesystem::path> cascade_file(const std::string& name);

// The names known to find_cascade on this machine, sorted; the default is always included.
std::vector<std::string> cascade_names();

// The XML of the default cascade, embedded at build time.
std::string_view embedded_cascade();

}  // namespace facesat

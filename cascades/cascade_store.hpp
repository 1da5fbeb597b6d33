// Cascades by name, as the command line knows them.
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

// `name` is a name as in OpenCV's files without "haarcascade_" and ".xml" (frontalface_default),
// the same with "lbp:" in front for "lbpcascade_" (lbp:frontalface), or a path. Cascade::name
// becomes the name asked for; of a path, its stem. Throws CascadeError.
std::shared_ptr<const Cascade> find_cascade(const std::string& name);

// The file of that name or path on this machine, if there is one.
std::optional<std::filesystem::path> cascade_file(const std::string& name);

// The names that find_cascade knows on this machine, sorted; the default is always among them.
std::vector<std::string> cascade_names();

// The XML of the default cascade, embedded at build time.
std::string_view embedded_cascade();

}  // namespace facesat

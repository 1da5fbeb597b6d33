// What the name of a source of frames says, before anything is opened.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace facesat {

// The camera of this name: its number or device; empty for the first one (the name is empty or
// "camera:"). nullopt for other names. Names of cameras are "0", "camera:0" and "/dev/video0";
// numbers of five or more digits are taken for file names.
std::optional<std::string> camera_name(const std::string& name);

// The file or folder of this name; nullopt for a camera or a stream ("rtsp://..."). Where a file
// has the name of a stream, it is the file.
std::optional<std::filesystem::path> source_path(const std::string& name);

// Does this name a camera or a stream where names of files are expected, too? There, "0" is a file.
bool is_live_name(const std::string& name);

// The name without what it takes to log in: the user and password of a URL, and the values of its
// parameters ("?pwd=...") whose names suggest a user, a password or a key.
std::string without_credentials(const std::string& name);

}  // namespace facesat

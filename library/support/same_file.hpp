// Tells which file a name refers to, because an output must never be a file that is read.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>

#include <sys/types.h>

namespace facesat {

// The same for all names of a file, including hard links.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  auto operator<=>(const FileIdentity&) const = default;
};

// Follows links. nullopt if there is no such file.
std::optional<FileIdentity> file_identity(const std::filesystem::path& file);

// Do two names refer to the same file or folder? If neither exists yet: would writing to either
// name create the same file?
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace facesat

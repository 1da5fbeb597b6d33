// Which file a name leads to: an output must never be a file that is read.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>

#include <sys/types.h>

namespace facesat {

// The same for all names of a file, also for hard links.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  auto operator<=>(const FileIdentity&) const = default;
};

// Follows links. Nothing if there is no such file.
std::optional<FileIdentity> file_identity(const std::filesystem::path& file);

// Do two names lead to the same file or folder? Also if it does not exist yet: writing to both
// would then write to one file.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace facesat

// Distinguishes the current contents of an input from earlier ones.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>

namespace facesat {

struct InputVersion {
  std::uint64_t change = 0;  // checksum of what tells the contents apart; 0: unknown
  std::uint64_t inode = 0;   // stays the same when a folder above the file is renamed, but not on
                             // every file system from one mount to the next
  auto operator<=>(const InputVersion&) const = default;
};

// The version of an input's file, by its size and times. It changes whenever the file is written to
// or replaced, and stays when a folder above the file is renamed; it is all zero (unknown) if there
// is no regular file. It includes the time of the last change of the inode, because programs that
// edit EXIF data can keep the size and the modification time of a file.
InputVersion version_of(const std::filesystem::path& input);

// The version of an open file, whatever has become of its path.
InputVersion version_of(int descriptor);

}  // namespace facesat

// An archive as a folder of files: its members are found in order and read where they are, without
// unpacking anything. Another kind of archive needs changes in archive.cpp alone.
//
// A tar archive ends with two or more blocks (of 512 bytes) of zeros. After them, the file may have
// more zeros, or another archive, whose members count as if they were in the first one. Everything
// else is damage: a single block of zeros, other bytes after the end, a file that ends without
// those blocks, a header that is missing or damaged. After damage, members are read from the next
// header on that can be recognised (by "ustar" and its checksum).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/input_version.hpp"

namespace facesat {

class Archive {
 public:
  // Throws InputError if `file` is not an archive that can be read.
  explicit Archive(const std::filesystem::path& file);
  ~Archive();
  Archive(Archive&&) noexcept;
  Archive& operator=(Archive&&) noexcept;

  struct Member {
    std::string name;         // without "./" in front; it may contain ".." or begin with "/"
    bool is_link = false;     // symbolic or hard: there is nothing to read
    bool is_special = false;  // a folder, a pipe or a device: there is nothing to read, either
    bool is_sparse = false;   // stored in pieces: read() refuses it
    std::uint64_t begin = 0, size = 0;  // of its bytes in the file
    // Its bytes; any thread may call this, even when the archive object is gone. Throws InputError:
    // "limit" for more than max_member_bytes, "read" if the archive ends too early.
    std::function<std::vector<unsigned char>()> read;
  };
  // The bytes of a member, elsewhere than where it was found. Throws as Member::read().
  static std::vector<unsigned char> read(const std::filesystem::path& file, std::uint64_t begin,
                                         std::uint64_t size);
  static constexpr std::uint64_t max_member_bytes = std::uint64_t{1} << 28;

  // The next member; nullopt at the end. Reads no more than the headers, unless it looks for the
  // next header after damage. Throws InputError instead of returning nullopt if the archive is
  // damaged, or if the program is interrupted; then there are no further members.
  std::optional<Member> next();

  // The version of the file that is read, when it was opened.
  const InputVersion& version() const;

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

// File name extensions of archives, in lower case with the dot.
const std::vector<std::string_view>& archive_extensions();

}  // namespace facesat

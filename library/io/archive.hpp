// An archive as a folder of files: its members are found in order and read where they are, without
// unpacking anything. Another kind of archive needs changes in archive.cpp alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace facesat {

class Archive {
 public:
  // Throws InputError if `file` is not an archive that can be read.
  explicit Archive(const std::filesystem::path& file);
  ~Archive();
  Archive(Archive&&) noexcept;
  Archive& operator=(Archive&&) noexcept;

  struct Member {
    std::string name;        // without "./" in front; it may contain ".." or begin with "/"
    bool is_link = false;    // symbolic or hard: there is nothing to read
    bool is_sparse = false;  // stored in pieces: read() refuses it
    std::uint64_t begin = 0, size = 0;  // of its bytes in the file
    // Its bytes; any thread may call this, even when the archive object is gone. Throws InputError:
    // "limit" for more than max_member_bytes, "read" if the archive ends too early.
    std::function<std::vector<unsigned char>()> read;
  };
  // The bytes of a member, elsewhere than where it was found. Throws as Member::read().
  static std::vector<unsigned char> read(const std::filesystem::path& file, std::uint64_t begin,
                                         std::uint64_t size);
  static constexpr std::uint64_t max_member_bytes = std::uint64_t{1} << 28;

  // The next member that is a file or a link; nullopt at the end. Reads no more than the headers.
  // Throws InputError if the archive is damaged; then there are no further members.
  std::optional<Member> next();

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

// File name extensions of archives, in lower case with the dot.
const std::vector<std::string_view>& archive_extensions();

}  // namespace facesat

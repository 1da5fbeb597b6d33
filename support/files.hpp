// Reading and writing files, with error messages that include the reason; and what tells whether
// this program wrote a file, and whether somebody has changed it since.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <sys/types.h>

namespace facesat {

// Is the file's extension one of `extensions`, which are in lower case with the dot? The case of
// the file's extension does not matter.
bool has_extension(const std::filesystem::path& file,
                   const std::vector<std::string_view>& extensions);

// The bytes of a regular file, or as many of them as can be read.
std::vector<unsigned char> read_file(const std::filesystem::path& file);

// Bytes as text.
inline std::string_view as_text(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Is this a regular file that is not empty?
bool has_contents(const std::filesystem::path& file);

// Throws UsageError: the file holds something that facesat did not write, and is not overwritten.
[[noreturn]] void refuse_foreign(const std::filesystem::path& file);

// Throws UsageError if `file` exists and was not written by facesat, because it could be an input
// or something else that the user would miss. Files by facesat are regular, and are empty or begin
// with one of `beginnings`.
void require_own_file(const std::filesystem::path& file,
                      const std::vector<std::string_view>& beginnings);

// The keys of an object in order, each followed by a space, from which the files of this program
// are known; empty if this is not an object.
std::string keys_of(const nlohmann::ordered_json& object);

// A 64-bit checksum, which detects whether bytes have changed since they were written; no
// protection against deliberate changes. `seed`: the checksum of the preceding part, if the bytes
// come in parts.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

// Throws UsageError with the reason, unless `file` can be written or created. To be called before
// work that would be lost otherwise.
void require_writable(const std::filesystem::path& file);

// Write a whole file. If the disk is known to be too full for the new contents, the earlier
// contents stay; if writing fails later, the partial file is removed. Throw OutputError with the
// reason.
void write_file(const std::filesystem::path& file, std::span<const unsigned char> bytes);
void write_text(const std::filesystem::path& file, std::string_view text);

// Creates a folder and its parents. Throws OutputError.
void make_folder(const std::filesystem::path& folder);

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// Writes all bytes. Throws ClosedPipe or OutputError("<name>: <reason>").
void write_all(int descriptor, std::string_view bytes, const std::string& name);

// ---- which file a name refers to, because an output must never be a file that is read

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

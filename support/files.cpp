#include "support/files.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/errors.hpp"

namespace facesat {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, int reason) {
  throw OutputError(fmt::format("{}: {}", file.string(), std::strerror(reason)), reason);
}

// Is the disk too full for a file of that size, or is the size above the file size limit? errno
// says which. A file system that cannot tell counts as having enough room. Space is reserved, but
// the file does not grow, so that a process killed before it writes leaves no zeros.
bool lacks_room(int descriptor, off_t size) {
  rlimit limit{};
  const bool may_be = ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
                      static_cast<rlim_t>(size) <= limit.rlim_cur;
  if (!may_be) errno = EFBIG;
  if (!may_be || size == 0) return !may_be;
  return ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, size) != 0 &&
         (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
}

// The path at which a file would be created if it were opened for writing by this name.
fs::path place_of(fs::path file) {
  std::error_code error;
  constexpr int most_links = 40;  // as in the kernel
  for (int links = 0; links < most_links && fs::is_symlink(fs::symlink_status(file, error));
       ++links)
    file = file.parent_path() / fs::read_symlink(file, error);
  const fs::path parent = fs::weakly_canonical(fs::absolute(file, error).parent_path(), error);
  return parent / file.filename();
}

}  // namespace

bool has_extension(const std::filesystem::path& file,
                   const std::vector<std::string_view>& extensions) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::vector<unsigned char> read_file(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  std::vector<unsigned char> bytes(error ? 0 : size);
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

void write_all(int descriptor, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE)
      throw ClosedPipe(fmt::format("{}: nobody reads it any more", name));
    if (written < 0) throw OutputError(fmt::format("{}: {}", name, std::strerror(errno)), errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool has_contents(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && fs::file_size(file, ignored) > 0;
}

void refuse_foreign(const fs::path& file) {
  throw UsageError(
      fmt::format("{} exists and was not written by facesat, so it is not overwritten: "
                  "name another file, or delete it",
                  file.string()));
}

void require_own_file(const fs::path& file, const std::vector<std::string_view>& beginnings) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(file, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw UsageError(fmt::format(
        "{}: this name is needed for the results, and is no regular file: rename or delete it",
        file.string()));
  if (!has_contents(file)) return;
  std::size_t longest = 0;
  for (const std::string_view beginning : beginnings) longest = std::max(longest, beginning.size());
  std::string begin(longest, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  for (const std::string_view beginning : beginnings)
    if (begin.starts_with(beginning.substr(0, begin.size()))) return;
  refuse_foreign(file);
}

std::string keys_of(const nlohmann::ordered_json& object) {
  std::string keys;
  if (!object.is_object()) return keys;
  for (const auto& [key, value] : object.items()) keys += key + " ";
  return keys;
}

// Takes eight bytes at a time and multiplies by an odd constant (2^64 divided by the golden ratio).
// Multiplication propagates bits only upwards, so the shift mixes the upper half into the lower
// one.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = seed ^ bytes.size();
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), 8);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), count);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
    bytes.remove_prefix(count);
  }
  return hash;
}

void require_writable(const fs::path& file) {
  if (file == "-")
    throw UsageError("-: this cannot go to standard output; ./- is a file of that name");
  const int created = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (created >= 0) {
    ::close(created);
    ::unlink(file.c_str());
    return;
  }
  // A pipe must not be opened: its reader would take closing it for the end of the data.
  std::error_code ignored;
  const int reason = errno != EEXIST                    ? errno
                     : fs::is_directory(file, ignored)  ? EISDIR
                     : ::access(file.c_str(), W_OK) < 0 ? errno
                                                        : 0;
  if (reason != 0) throw UsageError(fmt::format("{}: {}", file.string(), std::strerror(reason)));
}

void write_file(const fs::path& file, std::span<const unsigned char> bytes) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(file, errno);
  struct stat earlier {};
  const bool is_regular = ::fstat(descriptor, &earlier) == 0 && S_ISREG(earlier.st_mode);
  const auto size = static_cast<off_t>(bytes.size());
  off_t left = 0;  // bytes of the earlier contents that remain if this fails
  try {
    if (is_regular && lacks_room(descriptor, size)) {
      const int reason = errno;
      // Releases the space that may have been reserved.
      if (::ftruncate(descriptor, earlier.st_size) == 0) left = earlier.st_size;
      fail(file, reason);
    }
    write_all(descriptor, as_text(bytes), file.string());
    if (is_regular && ::ftruncate(descriptor, size) != 0) fail(file, errno);
  } catch (...) {
    ::close(descriptor);
    if (is_regular && left == 0) ::unlink(file.c_str());
    throw;
  }
  if (::close(descriptor) != 0) fail(file, errno);
}

void write_text(const fs::path& file, std::string_view text) {
  write_file(file, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return;
  if (!fs::create_directories(folder, error) && error)
    throw OutputError(
        fmt::format("{}: cannot make this folder: {}", folder.string(), error.message()),
        error.value());
}

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<FileIdentity> file_identity(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino};
}

bool same_file(const fs::path& a, const fs::path& b) {
  const auto first = file_identity(a), second = file_identity(b);
  if (first || second) return first == second;
  return place_of(a) == place_of(b);
}

}  // namespace facesat

#include "core/cascade.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace facesat {
namespace {

// A file that is open for reading.
class OpenFile {
 public:
  // O_NONBLOCK: opening a pipe would wait for a writer, and some devices for other events; regular
  // files ignore the flag. O_NOCTTY: a terminal must not become this process's controlling one.
  explicit OpenFile(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail();
  }
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  mode_t mode() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail();
    return status.st_mode;
  }

  // The whole file, but no more than `most` bytes.
  std::string read(std::size_t most) const {
    constexpr std::size_t at_once = 1 << 18;
    std::string bytes;
    while (bytes.size() < most) {
      const std::size_t before = bytes.size();
      bytes.resize(std::min(before + at_once, most));
      ssize_t count;
      do {
        count = ::read(descriptor_, bytes.data() + before, bytes.size() - before);
      } while (count < 0 && errno == EINTR);
      if (count < 0) fail();
      bytes.resize(before + static_cast<std::size_t>(count));
      if (count == 0) break;
    }
    return bytes;
  }

 private:
  [[noreturn]] static void fail() { throw std::system_error(errno, std::generic_category()); }
  int descriptor_;
};

const char* kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

// Reading anything but a regular file may never end, or may wait forever.
void check_is_regular(mode_t mode) {
  if (!S_ISREG(mode))
    throw CascadeError(fmt::format(
        "this is {}, not a file; expected a file with one of OpenCV's cascades", kind_of(mode)));
}

std::string read_file(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) check_is_regular(status.st_mode);  // without opening it
  const OpenFile open(file);
  check_is_regular(open.mode());            // it may have been replaced in between
  return open.read(max_cascade_bytes + 1);  // one more: notices larger files
}

}  // namespace

bool Cascade::has_tilted() const {
  return std::any_of(haar.begin(), haar.end(), [](const HaarFeature& f) { return f.tilted; });
}

bool Cascade::is_stumps() const {
  return std::all_of(trees.begin(), trees.end(), [](const Tree& t) { return t.node_count == 1; });
}

Cascade load_cascade(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::string bytes;
  try {
    bytes = read_file(file);
  } catch (const CascadeError& error) {
    throw CascadeError(fmt::format("{}: {}", name, error.what()));
  } catch (const std::system_error& error) {
    throw CascadeError(
        fmt::format("{}: this cascade file cannot be read: {}", name, error.code().message()));
  }
  Cascade cascade = parse_cascade(bytes, name);
  const std::filesystem::path stem = file.stem();
  cascade.name = (file.extension() == ".gz" ? stem.stem() : stem).string();
  return cascade;
}

}  // namespace facesat

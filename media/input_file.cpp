#include "media/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/frame_memory.hpp"
#include "support/errors.hpp"

namespace facesat {
namespace {

[[noreturn]] void fail(int reason) {
  const bool is_missing = reason == ENOENT || reason == ENOTDIR;
  throw InputError("read", is_missing ? "no such file or folder" : std::strerror(reason));
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) fail(errno);
  // A device or pipe is not even opened, because opening it may have side effects.
  if (!S_ISREG(info.st_mode)) throw InputError("read", "this is not a regular file");
  if (info.st_size == 0) throw InputError("decode", "the file is empty");
  descriptor_ = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  size_ = static_cast<std::size_t>(info.st_size);
  beginning_.resize(128);  // enough for the signatures of formats and matroska_size()
  beginning_.resize(read_at(0, beginning_.data(), beginning_.size()));
}

InputFile::InputFile(std::span<const unsigned char> bytes) : size_(bytes.size()) {
  if (bytes.empty()) throw InputError("decode", "the file is empty");
  try {
    std::shared_ptr<void> memory = frame_memory(bytes.size());
    std::memcpy(memory.get(), bytes.data(), bytes.size());
    bytes_ = {{static_cast<unsigned char*>(memory.get()), bytes.size()}, std::move(memory)};
  } catch (const MemoryError&) {
    throw InputError("memory", "there is no room for this file in memory");
  }
  constexpr std::size_t beginning = 128;
  beginning_.assign(bytes.begin(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(std::min(beginning, bytes.size())));
}

void InputFile::make_file() const {
  descriptor_ = ::memfd_create("picture", MFD_CLOEXEC);
  std::size_t done = 0;
  while (descriptor_ >= 0 && done < bytes_.bytes.size()) {
    const ssize_t count =
        ::write(descriptor_, bytes_.bytes.data() + done, bytes_.bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (done == bytes_.bytes.size()) return;
  const int reason = errno;
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (reason == EFBIG)
    throw OutputError(
        fmt::format("the limit on the size of files (ulimit -f) is too small for OpenCV to read a "
                    "picture of {} bytes that is no file of its own: raise it",
                    bytes_.bytes.size()),
        reason);
  throw InputError(
      "memory", fmt::format("there is no room for this file in memory: {}", std::strerror(reason)));
}

std::string InputFile::name() const {
  if (::access("/proc/self/fd", F_OK) != 0)
    throw InputError("read", "OpenCV can read this file only where /proc is mounted");
  if (descriptor_ < 0) make_file();
  return fmt::format("/proc/self/fd/{}", descriptor_);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t InputFile::read_at(std::size_t from, void* to, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t size = ::pread(descriptor_, static_cast<char*>(to) + done, count - done,
                                 static_cast<off_t>(from + done));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    done += static_cast<std::size_t>(size);
  }
  return done;
}

FileBytes InputFile::read() const {
  if (bytes_.owner) return bytes_;
  std::shared_ptr<void> memory = frame_memory(size_);
  const std::size_t count = read_at(0, memory.get(), size_);
  return {{static_cast<unsigned char*>(memory.get()), count}, std::move(memory)};
}

}  // namespace facesat

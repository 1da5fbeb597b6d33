#include "app/io/files.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "app/errors.hpp"

namespace facesat::app {

namespace fs = std::filesystem;

bool has_extension(const std::filesystem::path& file,
                   const std::vector<std::string_view>& extensions) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

void require_readable(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (error || !fs::exists(status))
    throw InputError("read", error ? error.message() : "no such file or folder");
  if (!fs::is_regular_file(status)) throw InputError("read", "this is not a regular file");
  if (access(file.c_str(), R_OK) != 0) throw InputError("read", std::strerror(errno));
  if (fs::file_size(file, error) == 0) throw InputError("decode", "the file is empty");
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
    if (written < 0) throw OutputError(fmt::format("{}: {}", name, std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void require_writable(const fs::path& file) {
  const int created = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (created >= 0) {
    ::close(created);
    ::unlink(file.c_str());
    return;
  }
  // A pipe must not be opened: its reader would take the closing for the end.
  std::error_code ignored;
  const int reason = errno != EEXIST                    ? errno
                     : fs::is_directory(file, ignored)  ? EISDIR
                     : ::access(file.c_str(), W_OK) < 0 ? errno
                                                        : 0;
  if (reason != 0) throw UsageError(fmt::format("{}: {}", file.string(), std::strerror(reason)));
}

void write_file(const fs::path& file, std::span<const unsigned char> bytes) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) throw OutputError(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  try {
    write_all(descriptor, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
              file.string());
  } catch (...) {
    ::close(descriptor);
    ::unlink(file.c_str());
    throw;
  }
  if (::close(descriptor) != 0)
    throw OutputError(fmt::format("{}: {}", file.string(), std::strerror(errno)));
}

void write_text(const fs::path& file, std::string_view text) {
  write_file(file, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return;
  if (!fs::create_directories(folder, error) && error)
    throw OutputError(
        fmt::format("{}: cannot make this folder: {}", folder.string(), error.message()));
}

}  // namespace facesat::app

#include "results/result_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/format.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

}  // namespace

ResultFile::ResultFile(const std::string& file) : name_(file) {
  if (file == "-")
    open_standard_output();
  else
    open_named(file);
}

ResultFile::~ResultFile() {
  if (descriptor_ < 0) return;
  struct stat info {};
  const bool is_empty = is_new_ && ::fstat(descriptor_, &info) == 0 && info.st_size == 0;
  if (is_empty && file_identity(path_) == FileIdentity{info.st_dev, info.st_ino})
    ::unlink(path_.c_str());  // nothing was written
  ::close(descriptor_);
}

void ResultFile::open_standard_output() {
  name_ = "standard output";
  descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);  // not 0 .. 2
  if (descriptor_ < 0 || (::fcntl(descriptor_, F_GETFL) & O_ACCMODE) == O_RDONLY)
    throw UsageError("standard output is closed: name an output file with -o FILE");
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) return;
  had_links_ = info.st_nlink > 0;
  const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
  seekable_ = at >= 0 && at == info.st_size;  // otherwise other programs write there, too
  size_ = seekable_ ? static_cast<std::uint64_t>(at) : 0;
}

void ResultFile::open_named(const std::string& file) {
  descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  is_new_ = descriptor_ >= 0;
  if (!is_new_) descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  struct stat info {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0)
    throw UsageError(
        fmt::format("{}: results cannot be written there: {}", name_, std::strerror(errno)));
  if (!S_ISREG(info.st_mode)) return;
  seekable_ = had_links_ = true;
  size_ = static_cast<std::uint64_t>(info.st_size);
  std::error_code error;
  path_ = fs::canonical(file, error);
  if (error) path_ = file;
  // Other failures are ignored, because some file systems have no locks.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw UsageError(fmt::format("{}: another run of facesat writes into this file", name_));
}

void ResultFile::require_results(const Format& format) const {
  if (!is_regular() || size_ == 0) return;
  const Format* const found = format_of_results(path_);
  if (!found) refuse_foreign(name_);
  if (found != &format)
    throw UsageError(
        fmt::format("{} holds results in another format, {}: give --format, or another output "
                    "file",
                    name_, found->name));
}

void ResultFile::keep(std::uint64_t bytes) {
  const bool is_cut = bytes != size_;  // otherwise the file is not even touched
  if ((is_cut && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) ||
      ::lseek(descriptor_, static_cast<off_t>(bytes), SEEK_SET) < 0)
    throw OutputError(fmt::format("{}: {}", name_, std::strerror(errno)));
  size_ = bytes;
}

void ResultFile::replace_by(const fs::path& other) {
  const int descriptor = ::open(other.c_str(), O_WRONLY | O_CLOEXEC);
  struct stat info {};
  const bool is_done = descriptor >= 0 && ::fstat(descriptor, &info) == 0 &&
                       ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
                       ::rename(other.c_str(), path_.c_str()) == 0;
  if (!is_done) {
    const int reason = errno;
    if (descriptor >= 0) ::close(descriptor);
    throw OutputError(fmt::format("{}: {}", other.string(), std::strerror(reason)));
  }
  ::close(std::exchange(descriptor_, descriptor));
  size_ = static_cast<std::uint64_t>(info.st_size);
}

// Throws if the file was deleted or changed: a record must not count as written if nobody will find
// it.
void ResultFile::check_untouched() const {
  struct stat info {};
  if (!had_links_ || ::fstat(descriptor_, &info) != 0) return;
  if (info.st_nlink == 0)
    throw OutputError(fmt::format(
        "{} was deleted while results were written into it, and they with it: start again", name_));
  if (is_regular() && static_cast<std::uint64_t>(info.st_size) != size_)
    throw OutputError(
        fmt::format("{} was changed by another program while results were written into it", name_));
}

void ResultFile::write(std::string_view record) {
  check_untouched();
  try {
    write_all(descriptor_, record, name_);
  } catch (const OutputError&) {
    if (seekable_ && ::ftruncate(descriptor_, static_cast<off_t>(size_)) == 0)
      ::lseek(descriptor_, static_cast<off_t>(size_), SEEK_SET);
    throw;
  }
  size_ += record.size();
}

void ResultFile::close() {
  check_untouched();
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0)
    throw OutputError(fmt::format("{}: {}", name_, std::strerror(errno)));
}

}  // namespace facesat

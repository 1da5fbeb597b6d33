#include "results/path_list.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"

namespace facesat {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code < ' ' && c != '\t' && c != '\r') || code == 0x7F;
}

bool names_a_file(std::string_view path) {
  struct stat ignored {};
  return ::lstat(std::string(path).c_str(), &ignored) == 0;
}

}  // namespace

PathList::PathList(const std::string& source, bool null_separated)
    : name_(source == "-" ? "standard input" : source) {
  if (null_separated) null_separated_ = true;
  descriptor_ = source == "-" ? STDIN_FILENO : ::open(source.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  const bool is_open = descriptor_ >= 0 && ::fstat(descriptor_, &info) == 0;
  // A read of zero bytes shows whether the file descriptor is open for reading.
  if (!is_open || (!S_ISDIR(info.st_mode) && ::read(descriptor_, nullptr, 0) < 0))
    throw UsageError(fmt::format("{}: the list cannot be read: {}", name_, std::strerror(errno)));
  if (S_ISDIR(info.st_mode))
    throw UsageError(fmt::format("{}: a list of paths was expected, this is a folder", name_));
  is_regular_ = S_ISREG(info.st_mode);
}

PathList::~PathList() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

bool PathList::fill() {
  // Signals may be delivered to another thread, where they do not end this wait.
  pollfd input{descriptor_, POLLIN, 0};
  while (true) {
    const int ready = ::poll(&input, 1, 100);
    if (ready > 0 || (ready < 0 && errno != EINTR)) break;  // read() below says what is wrong
    if (!interrupted()) continue;
    was_cut_short_ = true;
    return false;
  }
  std::string more(1 << 16, '\0');
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, more.data(), more.size());
  } while (count < 0 && errno == EINTR && !interrupted());
  if (count < 0 && errno != EINTR)
    failure_ = fmt::format("the list cannot be read any further: {}", std::strerror(errno));
  buffer_.append(more, 0, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return count > 0;
}

std::optional<char> PathList::next_byte() {
  if (at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
    if (!fill()) return std::nullopt;
  }
  return buffer_[at_++];
}

// In UTF-16, ASCII characters have one NUL byte each.
bool PathList::seems_utf16() {
  constexpr std::size_t looked_at = 4;
  while (buffer_.size() < looked_at && fill()) {
  }
  const std::string_view start = std::string_view(buffer_).substr(0, looked_at);
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) return true;
  if (start.size() < looked_at) return false;
  const auto is_nul = [&](std::size_t i) { return start[i] == '\0'; };
  return is_nul(0) == is_nul(2) && is_nul(1) == is_nul(3) && is_nul(0) != is_nul(1);
}

bool PathList::is_tar() const {
  constexpr std::size_t magic_at = 257;
  const std::string_view magic =
      std::string_view(buffer_).substr(std::min(magic_at, buffer_.size()), 6);
  const bool has_magic = magic == std::string_view("ustar\0", 6) || magic == "ustar ";
  return has_magic && buffer_.find('\0') < magic_at;  // the name of a member ends there
}

// Looks at what has arrived when the first entry is complete, so that nobody waits for more.
bool PathList::seems_binary() {
  constexpr std::string_view separators("\n\0", 2);
  constexpr std::size_t enough = 1 << 12;  // without a separator
  const auto has_separator = [&] { return buffer_.find_first_of(separators) != buffer_.npos; };
  while (!has_separator() && buffer_.size() < enough && fill()) {
  }
  std::string_view rest = buffer_;
  std::size_t entries = 0, binary = 0;
  for (bool is_first = true; !rest.empty(); is_first = false) {
    const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
    const std::string_view entry = rest.substr(0, end);
    const bool is_nothing =
        entry.empty() && rest[end] == '\0';  // find -print0 writes none of these
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (is_first && !rest.starts_with('\0') && names_a_file(entry)) return false;
    entries += is_nothing || !entry.empty();
    binary += is_nothing || std::any_of(entry.begin(), entry.end(), is_control);
  }
  return binary * 2 > entries;
}

PathList::Entry PathList::read_picture() {
  if (descriptor_ != STDIN_FILENO)
    return {"", "a list of paths was expected, and this is a picture: give it without @", nullptr};
  while (buffer_.size() <= max_picture_bytes && fill()) {
  }
  if (buffer_.size() > max_picture_bytes)
    return {"",
            fmt::format("a picture on standard input may have {} bytes, and this one has more",
                        max_picture_bytes),
            nullptr};
  return {"", std::exchange(failure_, ""),
          std::make_shared<std::vector<unsigned char>>(buffer_.begin(), buffer_.end())};
}

std::optional<PathList::Entry> PathList::entry_of_no_list() {
  while (match_picture(buffer_) == Match::unknown && fill()) {
  }
  if (match_picture(buffer_) == Match::yes) return read_picture();
  if (!null_separated_ && seems_utf16())
    return Entry{"",
                 "this list seems to be UTF-16, and UTF-8 is expected; names of one letter that "
                 "end with NUL bytes need --null",
                 nullptr};
  // The name of an archive's first member may be that of a file.
  if (!is_tar() && !seems_binary()) return std::nullopt;
  constexpr std::size_t tar_header = 512;
  while (buffer_.size() < tar_header && fill()) {
  }
  return Entry{"",
               is_tar()
                   ? "a list of paths was expected, and this is a tar archive: give it by name"
                   : "this is neither a list of paths nor a picture (such as JPEG or PNG): give "
                     "other files by name",
               nullptr};
}

std::optional<PathList::Entry> PathList::next() {
  if (is_first_)
    if (std::optional<Entry> entry = entry_of_no_list()) {
      is_first_ = false;
      buffer_.clear();
      ended_ = true;
      // A picture that has not arrived as a whole is no input.
      return was_cut_short_ ? std::nullopt : std::move(entry);
    }
  if (ended_) return std::nullopt;
  Entry entry;
  bool has_null = false;
  while (true) {
    const std::optional<char> byte = next_byte();
    if (byte && (*byte == '\n' || *byte == '\0') && !null_separated_) null_separated_ = *byte == 0;
    const bool ends = !byte || *byte == (null_separated_.value_or(false) ? '\0' : '\n');
    if (!ends) {
      entry.path += *byte;
      has_null |= *byte == '\0';
      continue;
    }
    if (std::exchange(is_first_, false) && entry.path.starts_with(byte_order_mark))
      entry.path.erase(0, byte_order_mark.size());
    if (!null_separated_.value_or(false) && entry.path.ends_with('\r')) entry.path.pop_back();
    if (has_null) entry.failure = "an entry of the list contains a NUL byte: is it for --null?";
    if (!byte && !failure_.empty()) entry.failure = std::exchange(failure_, "");
    if (!entry.path.empty() || !entry.failure.empty()) return entry;
    if (!byte) return std::nullopt;
  }
}

}  // namespace facesat

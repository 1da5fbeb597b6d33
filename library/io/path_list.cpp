#include "library/io/path_list.hpp"

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

#include "library/support/errors.hpp"
#include "library/support/interrupt.hpp"

namespace facesat {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

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

void PathList::fill() {
  // Signals may be delivered to another thread, where they do not end this wait.
  pollfd input{descriptor_, POLLIN, 0};
  while (true) {
    const int ready = ::poll(&input, 1, 100);
    if (ready > 0 || (ready < 0 && errno != EINTR)) break;  // read() below says what is wrong
    if (!interrupted()) continue;
    was_cut_short_ = true;
    return;
  }
  std::string more(1 << 16, '\0');
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, more.data(), more.size());
  } while (count < 0 && errno == EINTR && !interrupted());
  if (count < 0 && errno != EINTR)
    failure_ = fmt::format("the list cannot be read any further: {}", std::strerror(errno));
  buffer_.append(more, 0, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
}

std::optional<char> PathList::next_byte() {
  if (at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
    fill();
    if (buffer_.empty()) return std::nullopt;
  }
  return buffer_[at_++];
}

// In UTF-16, ASCII characters have one NUL byte each.
bool PathList::seems_utf16() {
  constexpr std::size_t looked_at = 4;
  for (std::size_t before = 0; buffer_.size() < looked_at;) {
    fill();
    if (buffer_.size() == std::exchange(before, buffer_.size())) break;  // the end
  }
  const std::string_view start = std::string_view(buffer_).substr(0, looked_at);
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) return true;
  if (start.size() < looked_at) return false;
  const auto is_nul = [&](std::size_t i) { return start[i] == '\0'; };
  return is_nul(0) == is_nul(2) && is_nul(1) == is_nul(3) && is_nul(0) != is_nul(1);
}

std::optional<PathList::Entry> PathList::next() {
  if (is_first_ && !null_separated_ && seems_utf16()) {
    is_first_ = false;
    buffer_.clear();
    ended_ = true;
    return Entry{"",
                 "this list seems to be UTF-16, and UTF-8 is expected; names of one letter that "
                 "end with NUL bytes need --null"};
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

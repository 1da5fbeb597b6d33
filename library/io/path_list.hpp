// A list of paths in a file, a pipe or on standard input, read one at a time as they arrive.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace facesat {

// Entries end with a line end ("\n" or "\r\n"). If `null_separated` is true or the first separator
// is a NUL byte, entries end with NUL bytes, as find(1) writes them with -print0, and names may
// contain line ends. A byte order mark at the start is skipped; a list in UTF-16 gives a single
// entry, a failure. Memory is bounded by the longest entry.
class PathList {
 public:
  struct Entry {
    std::string path;
    std::string failure;  // why there is no path (further entries may be missing, too); else empty
  };

  // `source`: a file, or "-" for standard input. Throws UsageError if it cannot be read.
  PathList(const std::string& source, bool null_separated);
  ~PathList();
  PathList(const PathList&) = delete;
  PathList& operator=(const PathList&) = delete;

  // The next non-empty entry; nullopt at the end. If reading fails or the separators are mixed, the
  // entry is a failure. If the program is interrupted, the list ends with what has arrived.
  std::optional<Entry> next();

  // Did the list end because of that, so that there may be further entries?
  bool was_cut_short() const { return was_cut_short_; }

  // The name for messages: the file, or "standard input".
  const std::string& name() const { return name_; }
  // Can the list be read a second time, by another object?
  bool is_repeatable() const { return is_regular_ && descriptor_ != 0; }

 private:
  // The next byte; nullopt at the end, or if reading fails.
  std::optional<char> next_byte();
  // Appends to the buffer what one read() gives.
  void fill();
  // Do the first bytes look like UTF-16?
  bool seems_utf16();

  std::string name_;
  int descriptor_ = -1;
  bool is_regular_ = false, is_first_ = true, ended_ = false;  // is_first_: no entry was read yet
  bool was_cut_short_ = false;
  std::optional<bool> null_separated_;  // unknown before the first separator
  std::string buffer_, failure_;
  std::size_t at_ = 0;  // of the next byte in buffer_
};

}  // namespace facesat

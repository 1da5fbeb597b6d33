// A list of paths in a file, a pipe or on standard input, one after the other as they come.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace facesat {

// Entries end with a line end ("\n" or "\r\n"), or with a NUL byte as `find -print0` writes them if
// the first one does, or if that was asked for; then names may contain line ends. A byte order
// mark at the start is passed over; a list in UTF-16 has one entry, a failure. Memory is bounded by
// the longest entry.
class PathList {
 public:
  struct Entry {
    std::string path;
    std::string failure;  // why there is no path, and perhaps no more entries; else empty
  };

  // `source`: a file, or "-" for standard input. Throws UsageError if it cannot be read.
  PathList(const std::string& source, bool null_separated);
  ~PathList();
  PathList(const PathList&) = delete;
  PathList& operator=(const PathList&) = delete;

  // The next entry that is not empty; nothing at the end. Where reading fails or the separators are
  // mixed, the entry has a failure. A signal that interrupts the program ends the list.
  std::optional<Entry> next();

  // As messages call it: the file, or "standard input".
  const std::string& name() const { return name_; }
  // Can it be read a second time, by another object?
  bool is_repeatable() const { return is_regular_ && descriptor_ != 0; }

 private:
  // The next byte; nothing at the end, or where reading fails.
  std::optional<char> next_byte();
  // More bytes into an empty buffer; as many as one read gives.
  void fill();
  // By its first bytes.
  bool seems_utf16();

  std::string name_;
  int descriptor_ = -1;
  bool is_regular_ = false, is_first_ = true, ended_ = false;
  std::optional<bool> null_separated_;  // unknown before the first separator
  std::string buffer_, failure_;
  std::size_t at_ = 0;
};

}  // namespace facesat

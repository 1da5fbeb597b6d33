// A list of paths in a file, a pipe or on standard input, read one at a time as they arrive.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace facesat {

// Entries end with a line end ("\n" or "\r\n"). If `null_separated` is true or the first separator
// is a NUL byte, entries end with NUL bytes, as find(1) writes them with -print0, and names may
// contain line ends. A byte order mark at the start is skipped. Memory is bounded by the longest
// entry.
//
// What is no list gives a single entry: a picture on standard input its bytes; a picture elsewhere,
// a list in UTF-16 and other binary data a failure. Data is binary if its first entry names no
// file, and most of those that have arrived with it hold control characters, or nothing before a
// NUL byte.
class PathList {
 public:
  struct Entry {
    std::string path;
    std::string failure;  // why there is no path (further entries may be missing, too); else empty
    std::shared_ptr<const std::vector<unsigned char>> picture;  // instead of a path; else null
  };

  // `source`: a file, or "-" for standard input. Throws UsageError if it cannot be read.
  PathList(const std::string& source, bool null_separated);
  ~PathList();
  PathList(const PathList&) = delete;
  PathList& operator=(const PathList&) = delete;

  // A picture on standard input may have that many bytes.
  static constexpr std::size_t max_picture_bytes = std::size_t{1} << 28;

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
  // Appends to the buffer what one read() gives. False if that is nothing.
  bool fill();
  // The only entry if this is no list; else nullopt.
  std::optional<Entry> entry_of_no_list();
  Entry read_picture();
  // Do the first bytes look like UTF-16?
  bool seems_utf16();
  bool seems_binary();
  bool is_tar() const;

  std::string name_;
  int descriptor_ = -1;
  bool is_regular_ = false, is_first_ = true, ended_ = false;  // is_first_: no entry was read yet
  bool was_cut_short_ = false;
  std::optional<bool> null_separated_;  // unknown before the first separator
  std::string buffer_, failure_;
  std::size_t at_ = 0;  // of the next byte in buffer_
};

}  // namespace facesat

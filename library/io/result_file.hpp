// The file (or standard output) that records go to, one after the other, whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "library/io/results.hpp"

namespace facesat {

class ResultFile {
 public:
  // Opens FILE ("-": standard output) and changes nothing in it. A regular file is locked against
  // other runs. A file that did not exist, is still empty and was not closed goes with this object.
  // Throws UsageError.
  explicit ResultFile(const std::string& file);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  const std::string& name() const { return name_; }  // as messages call it
  // A regular file that was named? Only such files can be resumed.
  bool is_regular() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }  // of a regular file, without links
  std::uint64_t size() const { return size_; }

  // Throws UsageError if a regular file holds anything but results in that format: it may be an
  // input, or whatever else the user will miss.
  void require_results(Format format) const;
  // Keeps the first bytes of a regular file. Throws OutputError.
  void keep(std::uint64_t bytes);
  // Another file takes the place of this one, a regular file, whole. Throws OutputError.
  void replace_by(const std::filesystem::path& other);

  // Appends a record. If that fails half-way (a full disk), takes back what was written of it and
  // throws OutputError, or ClosedPipe. OutputError, too, if the file was deleted, or changed by
  // others.
  void write(std::string_view record);

  // Throws OutputError if the system reports a late failure.
  void close();

 private:
  void open_named(const std::string& file);
  void open_standard_output();
  void check_untouched() const;

  std::string name_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool seekable_ = false, had_links_ = false, is_new_ = false;
  std::uint64_t size_ = 0;
};

}  // namespace facesat

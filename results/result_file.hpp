// The file (or standard output) for records, which are appended whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "results/results.hpp"

namespace facesat {

class ResultFile {
 public:
  // Opens `file` ("-": standard output) without changing its contents. A regular file is locked
  // against other runs. A file that this object created is deleted by the destructor if it is still
  // empty and was not closed. Throws UsageError.
  explicit ResultFile(const std::string& file);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  const std::string& name() const { return name_; }  // for messages
  // Is this a regular file that was given by name? Only such files can be resumed.
  bool is_regular() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }  // of a regular file, links resolved
  std::uint64_t size() const { return size_; }

  // Throws UsageError if a regular file holds anything but results in that format, such as an input
  // or something else that the user would miss.
  void require_results(const Format& format) const;
  // Truncates a regular file to its first `bytes` bytes. Throws OutputError.
  void keep(std::uint64_t bytes);
  // Atomically replaces this regular file by another one. Throws OutputError.
  void replace_by(const std::filesystem::path& other);

  // Appends a record. If that fails half-way (such as on a full disk), removes the part already
  // written and throws OutputError or ClosedPipe. Also throws OutputError if the file was deleted,
  // or changed by another program.
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
  // seekable_: the file is regular and only this object writes to it, so that a partial record can
  // be removed. had_links_: the file had a name when it was opened. is_new_: this object created
  // it.
  bool seekable_ = false, had_links_ = false, is_new_ = false;
  std::uint64_t size_ = 0;
};

}  // namespace facesat

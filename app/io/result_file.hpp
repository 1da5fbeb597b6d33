// The file (or standard output) that records go to, one after the other, whole or not at all; and
// what an earlier, interrupted run left in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "app/io/results.hpp"

namespace facesat::app {

// The records of an earlier run.
class EarlierResults {
 public:
  // Reads FILE as far as it is complete. What may be torn is left out of complete_bytes(): a last
  // line without an end and, in CSV, where a picture's lines belong together, the last picture's
  // lines. A file that does not exist is an empty one. Throws UsageError if it holds anything but
  // results.
  static EarlierResults read(const std::string& file, const Layout& layout);

  // Is this picture, or frame of a film, among them? Each record answers for one input only, for
  // inputs of two folders may have the same name. In CSV, where pictures without faces leave no
  // trace, such names cannot be told apart: the second asking throws InputError.
  bool take(const std::string& image, std::optional<int> frame);

  std::uint64_t complete_bytes() const { return complete_bytes_; }
  std::size_t records() const { return records_; }
  std::size_t failures() const { return failures_; }

 private:
  void read_jsonl(std::istream& in, const std::string& file);
  void read_csv(std::istream& in, const std::string& file, const std::string& header);

  Format format_ = Format::jsonl;
  std::unordered_map<std::string, int> counts_;  // records by image
  std::uint64_t complete_bytes_ = 0;
  std::size_t records_ = 0, failures_ = 0;
};

class ResultFile {
 public:
  // Opens FILE ("-": standard output) and keeps its first `keep` bytes. Throws UsageError.
  ResultFile(const std::string& file, std::uint64_t keep);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  // Appends a record. If that fails half-way (a full disk), takes back what was written of it and
  // throws OutputError, or ClosedPipe.
  void write(std::string_view record);

  // Throws OutputError if the system reports a late failure.
  void close();

 private:
  std::string name_;
  int descriptor_ = -1;
  bool seekable_ = false;
  std::uint64_t size_ = 0;
};

}  // namespace facesat::app

#include "app/io/result_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "app/errors.hpp"
#include "app/io/files.hpp"

namespace facesat::app {
namespace {

[[noreturn]] void refuse(const std::string& file, std::size_t line, const char* what) {
  throw UsageError(fmt::format(
      "{}, line {}: {}; --resume needs a file that 'facesat detect' wrote with the same "
      "--format and --cascade",
      file, line, what));
}

// The first field of one CSV record, which may be quoted.
std::string first_field(const std::string& record) {
  if (!record.starts_with('"')) return record.substr(0, record.find(','));
  std::string field;
  for (std::size_t i = 1; i < record.size(); ++i) {
    if (record[i] == '"' && (i + 1 == record.size() || record[++i] != '"')) break;
    field += record[i];
  }
  return field;
}

// The next CSV record with its line end: line ends inside quotes belong to it.
bool next_csv_record(std::istream& in, std::string& record) {
  record.clear();
  bool quoted = false;
  for (int c = in.get(); c != EOF; c = in.get()) {
    record += static_cast<char>(c);
    if (c == '"') quoted = !quoted;
    if (c == '\n' && !quoted) return true;
  }
  return false;
}

}  // namespace

EarlierResults EarlierResults::read(const std::string& file, const Layout& layout) {
  EarlierResults earlier;
  earlier.format_ = layout.format;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return earlier;
  if (!std::filesystem::is_regular_file(file, error))
    throw UsageError(fmt::format("{}: --resume needs a regular file", file));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UsageError(fmt::format("{}: {}", file, std::strerror(errno)));
  if (layout.format == Format::jsonl)
    earlier.read_jsonl(in, file);
  else
    earlier.read_csv(in, file, layout.header());
  return earlier;
}

void EarlierResults::read_jsonl(std::istream& in, const std::string& file) {
  std::string line;
  while (std::getline(in, line) &&
         !in.eof()) {  // a line that the file's end cuts off does not count
    const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("image") || !record["image"].is_string() ||
        record.contains("faces") == record.contains("error"))
      refuse(file, records_ + 1, "this is not a record");
    ++counts_[record["image"]];
    ++records_;
    failures_ += record.contains("error");
    complete_bytes_ += line.size() + 1;
  }
}

void EarlierResults::read_csv(std::istream& in, const std::string& file,
                              const std::string& header) {
  std::string record, last;
  if (!next_csv_record(in, record)) {
    if (!header.starts_with(record)) refuse(file, 1, "this is not the header");
    return;
  }
  if (record != header) refuse(file, 1, "this is not the header");
  const auto commas = std::count(header.begin(), header.end(), ',');
  std::uint64_t end = complete_bytes_ = header.size();
  for (std::size_t line = 2; next_csv_record(in, record); ++line) {
    if (std::count(record.begin(), record.end(), ',') < commas)
      refuse(file, line, "this is not a face");
    const std::string image = first_field(record);
    if (image != last) {
      complete_bytes_ = end;  // all before this picture is complete
      if (line > 2) counts_[last] = 1;
      last = image;
    }
    end += record.size();
  }
  records_ = counts_.size();
}

bool EarlierResults::take(const std::string& image, std::optional<int> frame) {
  const bool csv = format_ == Format::csv;
  const auto found = counts_.find(csv && frame ? fmt::format("{}#{}", image, *frame) : image);
  if (found == counts_.end()) return false;
  if (found->second > 0) return found->second--, true;
  if (csv)
    throw InputError(
        "read", "another input has this name, so a CSV file cannot be resumed; use --format jsonl");
  return false;
}

ResultFile::ResultFile(const std::string& file, std::uint64_t keep) : name_(file), size_(keep) {
  if (file == "-") {
    name_ = "standard output";
    descriptor_ = ::dup(STDOUT_FILENO);
    struct stat info {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode)) {
      const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
      seekable_ = at >= 0 && at == info.st_size;  // otherwise others write there too
      size_ = seekable_ ? static_cast<std::uint64_t>(at) : 0;
    }
  } else {
    descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    struct stat info {};
    seekable_ = descriptor_ >= 0 && ::fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode);
    if (seekable_ && (::ftruncate(descriptor_, static_cast<off_t>(keep)) != 0 ||
                      ::lseek(descriptor_, static_cast<off_t>(keep), SEEK_SET) < 0))
      throw UsageError(fmt::format("{}: {}", name_, std::strerror(errno)));
  }
  if (descriptor_ < 0) throw UsageError(fmt::format("{}: {}", name_, std::strerror(errno)));
}

ResultFile::~ResultFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ResultFile::write(std::string_view record) {
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
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0)
    throw OutputError(fmt::format("{}: {}", name_, std::strerror(errno)));
}

}  // namespace facesat::app

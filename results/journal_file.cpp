#include "results/journal_file.hpp"

#include <fstream>

#include <fmt/format.h>

#include "core/parse_number.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

// The first line of a journal.
constexpr std::string_view title = "facesat journal 1";

// Escapes the separators: tabs separate fields, line feeds end lines.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c == '\\')
      result += "\\\\";
    else if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else
      result += c;
  return result;
}

// Reverses escaped().
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char c = text[++i];
    result += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return result;
}

fs::path new_file_of(const fs::path& journal) {
  return fs::path(journal) += ".new";
}

// Reads a journal line by line.
class Reader {
 public:
  explicit Reader(const fs::path& file) : file_(file), in_(file, std::ios::binary) {}

  JournalFile read() {
    if (!next_line() || line_ != title)
      throw UsageError(
          fmt::format("{}: the journal needs this name, but the file is not a "
                      "journal: name another output file",
                      file_.string()));
    JournalFile journal;
    while (next_line() && line_ != "") {
      const std::vector<std::string_view> fields = split();
      if (fields.size() == 2 && fields[0] == "generation")
        journal.generation = number<int>(fields[1]);
      else if (fields.size() == 3 && fields[0] == "option")
        journal.options.emplace_back(unescaped(fields[1]), unescaped(fields[2]));
      else
        refuse();
    }
    if (!ended_) refuse();  // the file ends inside its header
    while (next_line()) {
      journal.is_complete = line_ + '\n' == end_of_journal;
      if (!journal.is_complete) journal.entries.push_back(entry());
    }
    journal.file_is_current = !has_rest();
    return journal;
  }

 private:
  [[noreturn]] void refuse() const {
    throw UsageError(
        fmt::format("{}, line {}: this journal is damaged; to begin anew, delete it together with "
                    "the output file",
                    file_.string(), number_));
  }

  // False at the end, and for a last line without a line end.
  bool next_line() {
    ++number_;
    ended_ = false;
    if (!std::getline(in_, line_) || in_.eof()) return false;
    ended_ = true;
    return true;
  }

  // At the end: are there bytes after the last line end?
  bool has_rest() const { return !line_.empty(); }

  std::vector<std::string_view> split() const {
    std::vector<std::string_view> fields;
    std::string_view rest = line_;
    while (true) {
      const std::size_t tab = rest.find('\t');
      fields.push_back(rest.substr(0, tab));
      if (tab == rest.npos) return fields;
      rest.remove_prefix(tab + 1);
    }
  }

  template <class T>
  T number(std::string_view text) const {  // whole and not negative
    const auto value = parse_number<T>(text);
    if (!value || *value < T{}) refuse();
    return *value;
  }

  // The current line as an entry; the fields are in the order of to_text().
  Journal::Entry entry() const {
    const std::vector<std::string_view> fields = split();
    if (fields.size() != 9 || (fields[4] != "done" && fields[4] != "failed") ||
        (fields[5] != "last" && fields[5] != "more"))
      refuse();
    Journal::Entry entry;
    entry.end = number<std::uint64_t>(fields[0]);
    entry.checksum = number<std::uint64_t>(fields[1]);
    entry.occurrence = number<int>(fields[2]);
    if (fields[3] != "-") entry.frame = number<int>(fields[3]);
    entry.failed = fields[4] == "failed";
    entry.last_of_input = fields[5] == "last";
    entry.version = {number<std::uint64_t>(fields[6]), number<std::uint64_t>(fields[7])};
    entry.key = unescaped(fields[8]);
    return entry;
  }

  const fs::path& file_;
  std::ifstream in_;
  std::string line_;
  std::size_t number_ = 0;  // of the current line
  bool ended_ = false;      // the current line has a line end
};

}  // namespace

std::string to_text(const Journal::Entry& entry) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", entry.end, entry.checksum,
                     entry.occurrence, entry.frame ? std::to_string(*entry.frame) : "-",
                     entry.failed ? "failed" : "done", entry.last_of_input ? "last" : "more",
                     entry.version.change, entry.version.inode, escaped(entry.key));
}

std::string to_text(const JournalFile& journal) {
  std::string text = fmt::format("{}\ngeneration\t{}\n", title, journal.generation);
  for (const auto& [name, value] : journal.options)
    text += fmt::format("option\t{}\t{}\n", escaped(name), escaped(value));
  text += '\n';
  for (const Journal::Entry& entry : journal.entries) text += to_text(entry);
  return text;
}

fs::path journal_of(const fs::path& output) {
  return fs::path(output) += ".resume";
}

bool has_journal(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) ? has_contents(file) : fs::exists(file, ignored);
}

void prepare_journal(const fs::path& file, const JournalFile& journal) {
  const fs::path next = new_file_of(file);
  require_own_file(next, {title});
  write_text(next, to_text(journal));
}

void install_journal(const fs::path& file) {
  const fs::path next = new_file_of(file);
  std::error_code error;
  fs::rename(next, file, error);
  if (error) {
    fs::remove(next, error);
    throw OutputError(fmt::format("{}: {}", file.string(), error.message()));
  }
}

void replace_journal(const fs::path& file, const JournalFile& journal) {
  prepare_journal(file, journal);
  install_journal(file);
}

JournalFile read_journal(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored))
    throw UsageError(
        fmt::format("{}: the journal needs this name, but it is not a regular file: "
                    "name another output file",
                    file.string()));
  return Reader(file).read();
}

std::string name_key(const std::string& name) {
  return "name " + name;
}

std::string_view path_in(std::string_view key) {
  return key.substr(key.find(' ') + 1);
}

}  // namespace facesat

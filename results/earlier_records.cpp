#include "results/earlier_records.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "results/format.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

// The file in which the output of a new generation (see JournalFile) is prepared.
fs::path retry_file(const fs::path& output, int generation) {
  return fs::path(output) += fmt::format(".retry{}", generation);
}

void check_options(const std::string& output, const ResultOptions& then, const ResultOptions& now) {
  const auto value_of = [](const std::string& name, const ResultOptions& options) -> std::string {
    const auto same_name = [&](const auto& option) { return option.first == name; };
    const auto found = std::find_if(options.begin(), options.end(), same_name);
    return found == options.end() ? "its default" : found->second;
  };
  for (const ResultOptions* options : {&now, &then})
    for (const auto& [name, value] : *options) {
      const std::string before = value_of(name, then), after = value_of(name, now);
      if (before != after)
        throw UsageError(
            fmt::format("{} was begun with {} {}, now it is {}: give the options of the first run, "
                        "or another output file",
                        output, name, before, after));
    }
}

[[noreturn]] void refuse_changed(const std::string& output, const std::string& what) {
  throw UsageError(fmt::format(
      "{} was changed after facesat wrote it ({}), so it cannot be completed: name another output "
      "file",
      output, what));
}

// Drops the entries of records that the output lacks (the run was killed before it wrote them), and
// checks that the output holds all other records as they were written, and nothing else.
void check_records(JournalFile& journal, const ResultFile& file, const Layout& layout,
                   bool had_journal) {
  const std::string header = layout.header();
  std::ifstream in(file.path(), std::ios::binary);
  std::string bytes;
  const auto read = [&](std::uint64_t count) {
    bytes.resize(count);
    in.read(bytes.data(), static_cast<std::streamsize>(count));
    return static_cast<std::uint64_t>(in.gcount()) == count;
  };
  std::uint64_t end = 0;
  if (file.size() >= header.size()) {
    if (!read(header.size()) || bytes != header) refuse_changed(file.name(), "in its first line");
    end = header.size();
  } else if (!read(file.size()) || !header.starts_with(bytes)) {
    refuse_changed(file.name(), "in its first line");
  }
  std::vector<Journal::Entry>& entries = journal.entries;
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (entry->end > file.size()) {
      const bool has_records = file.size() >= header.size();
      if (has_records && (!read(file.size() - end) || !layout.format->is_torn(bytes, layout)))
        refuse_changed(file.name(), "its end is not what was written");
      entries.erase(entry, entries.end());
      journal.file_is_current = false;
      return;
    }
    if (entry->end < end || !read(entry->end - end) || checksum(bytes) != entry->checksum)
      refuse_changed(file.name(), fmt::format("the record of {}", path_in(entry->key)));
    end = entry->end;
  }
  // A file shorter than its header is one of a run that was killed while it wrote the header.
  if (end >= file.size() || file.size() < header.size()) return;
  // With a journal, each record has its entry before it is written, so that the beginning of a
  // record was handled above. What is left can be the beginning of one only if there was no
  // journal.
  read(file.size() - end);
  if (had_journal || !layout.format->is_torn(bytes, layout))
    refuse_changed(file.name(), "there is more in it");
}

// For each entry: was it replaced by a later try of the same input, or is it a failure that was
// repaired?
std::vector<bool> replaced(const std::vector<Journal::Entry>& entries,
                           const std::set<Journal::Input>& repaired) {
  const auto is_first = [](const Journal::Entry& entry) { return entry.frame.value_or(0) == 0; };
  std::map<std::pair<std::string_view, int>, std::size_t> last_try;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (is_first(entries[i])) last_try[{entries[i].key, entries[i].occurrence}] = i;
  std::vector<bool> result;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto found = last_try.find({entries[i].key, entries[i].occurrence});
    const bool is_repaired = repaired.contains({entries[i].key, entries[i].occurrence});
    result.push_back(is_repaired || (found != last_try.end() && i < found->second));
  }
  return result;
}

// Copies the records of `output` to the file `to`, without those that are dropped; `journal` then
// describes that file. `head` bytes come before the first record.
void drop(JournalFile& journal, const std::vector<bool>& dropped, const fs::path& output,
          std::uint64_t head, const fs::path& to) {
  std::ifstream in(output, std::ios::binary);
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  std::error_code ignored;
  fs::permissions(to, fs::status(output, ignored).permissions(), ignored);
  std::string bytes;
  const auto copy = [&](std::uint64_t count) {
    bytes.resize(count);
    in.read(bytes.data(), static_cast<std::streamsize>(count));
    out.write(bytes.data(), static_cast<std::streamsize>(count));
  };
  copy(head);
  std::vector<Journal::Entry> kept;
  std::uint64_t begin = head, end = head;
  for (std::size_t i = 0; i < journal.entries.size(); ++i) {
    Journal::Entry& entry = journal.entries[i];
    const std::uint64_t count = entry.end - begin;
    begin = entry.end;
    if (dropped[i]) {
      in.seekg(static_cast<std::streamoff>(begin));
      continue;
    }
    copy(count);
    entry.end = end += count;
    kept.push_back(std::move(entry));
  }
  out.close();
  if (!in || !out) {
    fs::remove(to, ignored);
    throw OutputError(fmt::format("{}: cannot be written: {}", to.string(), std::strerror(errno)));
  }
  journal.entries = std::move(kept);
}

// What is known about the output before this run, from its journal or else from its records.
JournalFile load(const ResultFile& file, const Layout& layout, const ResultOptions& options) {
  const fs::path path = journal_of(file.path());
  const bool is_there = has_journal(path);
  JournalFile journal;
  if (is_there) journal = read_journal(path);
  if (is_there && file.size() > 0) {
    check_options(file.name(), journal.options, options);
    return journal;
  }
  journal = {};
  if (file.size() > 0) {
    if (format_of_results(file.path())) file.require_results(*layout.format);
    journal = layout.format->journal_of(file.path(), file.name(), layout);
  }
  journal.options = options;
  return journal;
}

}  // namespace

void drop_replaced(JournalFile& journal, ResultFile& file, std::uint64_t head,
                   const std::set<Journal::Input>& repaired) {
  const std::vector<bool> dropped = replaced(journal.entries, repaired);
  if (std::find(dropped.begin(), dropped.end(), true) == dropped.end()) return;
  const fs::path next = retry_file(file.path(), ++journal.generation);
  drop(journal, dropped, file.path(), head, next);
  replace_journal(journal_of(file.path()), journal);  // from here on the new generation is valid
  journal.file_is_current = true;
  journal.is_complete = false;
  file.replace_by(next);
}

JournalFile take_up(ResultFile& file, const Layout& layout, const ResultOptions& options) {
  std::error_code error;
  const bool had_journal = has_journal(journal_of(file.path()));
  JournalFile journal = load(file, layout, options);
  const fs::path unfinished = retry_file(file.path(), journal.generation),
                 stale = retry_file(file.path(), journal.generation + 1);
  std::vector<std::string_view> beginnings;
  for (const Format* format : formats()) beginnings.push_back(format->beginning);
  for (const fs::path& prepared : {unfinished, stale}) require_own_file(prepared, beginnings);
  if (journal.generation > 0 && fs::exists(unfinished, error)) file.replace_by(unfinished);
  fs::remove(stale, error);
  check_records(journal, file, layout, had_journal);
  drop_replaced(journal, file, layout.header().size());
  return journal;
}

}  // namespace facesat

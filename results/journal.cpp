#include "results/journal.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>

#include "results/earlier_records.hpp"
#include "results/journal_file.hpp"
#include "results/shard.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

// Is there no file of that path any more? A path that leads into a file is in an archive.
bool is_gone(const fs::path& file) {
  std::error_code error;
  const bool exists = fs::exists(fs::status(file, error));
  return !exists && error != std::errc::not_a_directory;
}

}  // namespace

Journal::Journal(ResultFile& file, const Layout& layout, const ResultOptions& options, Mode mode) {
  if (!file.is_regular()) {
    if (mode != Mode::fresh)
      throw UsageError(fmt::format("{}: --resume needs a regular file", file.name()));
    file.write(layout.header());
    return;
  }
  path_ = journal_of(file.path());
  head_ = layout.header().size();
  retries_ = mode == Mode::retry_failed;
  JournalFile journal;
  journal.options = options;
  if (mode == Mode::fresh) {
    const bool is_complete = !has_journal(path_) || read_journal(path_).is_complete;
    if (!is_complete && file.size() > head_)
      throw UsageError(
          fmt::format("{} holds what an earlier run had found when it was ended: --resume goes on "
                      "from there; to begin anew, delete the file",
                      file.name()));
    file.require_results(*layout.format);
  } else {
    journal = take_up(file, layout, options);
  }
  // The output is cut before the journal is replaced: entries without a record are passed over, but
  // a record without an entry would be taken for foreign data.
  try {
    if (!journal.file_is_current) prepare_journal(path_, journal);
  } catch (const OutputError& failure) {
    throw OutputError(fmt::format(
        "no journal can be written next to {}, so an interrupted run could not be resumed: "
        "name another output file ({})",
        file.name(), failure.what()));
  }
  file.keep(journal.entries.empty() ? 0 : journal.entries.back().end);
  if (!journal.file_is_current) install_journal(path_);
  is_complete_ = journal.file_is_current && journal.is_complete;
  reopen();
  if (journal.entries.empty()) file.write(layout.header());
  remember(journal);
  if (has_names_)
    remark_ = fmt::format(
        "{} had no journal when it was completed (a run without --resume and failures deletes it): "
        "inputs whose names it holds are taken for done, whatever their folders and the options "
        "were, and even if they have changed",
        file.name());
}

void Journal::remember(const JournalFile& journal) {
  for (const Entry& entry : journal.entries) {
    const auto known = known_.try_emplace(entry.key).first;
    InputState& state = known->second.earlier[entry.occurrence];
    state.records = entry.frame.value_or(0) + 1;
    state.complete |= entry.last_of_input;
    state.version = entry.version;
    earlier_failures_ += entry.failed && !state.failed;
    state.failed |= entry.failed;
    has_names_ |= entry.key.starts_with(name_key(""));
    if (entry.version.change != 0) keys_.emplace(entry.version, known->first);
  }
}

void Journal::reopen() {
  descriptor_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!descriptor_.is_open())
    throw OutputError(fmt::format("{}: {}", path_.string(), std::strerror(errno)));
}

// The key of an input: the same however its path is spelled, and wherever the program was started.
// The key of the folder is cached, because inputs of one folder come one after the other.
std::string Journal::path_key(const fs::path& input) {
  // "folder/" has the same key as "folder".
  if (!input.has_filename() && input.has_relative_path()) return path_key(input.parent_path());
  const fs::path folder = input.has_parent_path() ? input.parent_path() : ".";
  if (folder != folder_) {
    std::error_code error;
    folder_ = folder;
    key_of_folder_ =
        "path " + (fs::weakly_canonical(fs::absolute(folder, error), error) / "").string();
  }
  return key_of_folder_ + input.filename().string();
}

// For a file that the journal does not know by its path: the key of a path where a file of the same
// version and name was, and where no file is any more. nullopt if there is none.
std::optional<std::string> Journal::key_before_move(const InputVersion& version,
                                                    const std::string& name) const {
  const auto [begin, end] = keys_.equal_range(version);
  for (auto found = begin; found != end; ++found) {
    const std::string_view key = found->second;
    if (key.ends_with("/" + name) && is_gone(path_in(key))) return std::string(key);
  }
  return std::nullopt;
}

Journal::InputEntry Journal::enter(const fs::path& path, const std::string& name,
                                   const std::string& member,
                                   const std::optional<InputVersion>& read) {
  if (path_.empty()) return {};
  InputVersion version = read ? *read : version_of(path);
  std::string key = path_key(path);
  if (!member.empty()) {
    key += "/" + member;
    if (version.change != 0) version.change = checksum(member, version.change);
  }
  if (const auto before = known_.contains(key) ? std::nullopt : key_before_move(version, name)) {
    moved_.emplace(*before, key);
    key = *before;
  }
  // An input known only by name is found by it; a second input with that name is ambiguous.
  if (has_names_ && !known_.contains(key))
    if (const auto found = known_.find(name_key(name)); found != known_.end()) {
      if (found->second.path.empty()) found->second.path = key;
      ambiguous_ += found->second.path != key;
      key = found->first;
    }
  const auto known = known_.find(key);
  if (known == known_.end()) return {key, entered_[name_hash(key)]++, version, {}};
  const int occurrence = known->second.entered++;
  const auto earlier = known->second.earlier.find(occurrence);
  InputEntry entry{key, occurrence, version, {}};
  if (earlier == known->second.earlier.end()) return entry;
  const InputState& state = earlier->second;
  const bool is_retried = retries_ && state.failed;
  // An input that was missing (it failed without a version) and now exists has changed, too.
  // Without a version, nothing can be said about entries that are known only by name.
  const bool is_comparable =
      state.version.change != 0 || (state.failed && !key.starts_with(name_key("")));
  const bool has_changed =
      version.change != 0 && is_comparable && version.change != state.version.change;
  earlier_failures_ -= state.failed && (is_retried || has_changed);
  changed_ += has_changed;
  replaces_ |= is_retried || has_changed;
  if (!is_retried && !has_changed) entry.earlier = state;
  return entry;
}

void Journal::enter_folder(const fs::path& folder, const InputVersion& version) {
  if (path_.empty() || earlier_failures_ == 0) return;
  const auto known = known_.find(path_key(folder));
  if (known == known_.end()) return;
  for (auto& [occurrence, state] : known->second.earlier)
    if (state.failed && (retries_ || version.change != state.version.change) &&
        repaired_.insert({known->first, occurrence}).second) {
      --earlier_failures_;
      replaces_ = true;
    }
}

void Journal::add(const Entry& entry) {
  is_complete_ = false;
  if (descriptor_.is_open()) write_all(descriptor_.get(), to_text(entry), path_.string());
}

void Journal::finish(ResultFile& file, bool complete) {
  if (replaces_ || !moved_.empty()) {
    JournalFile journal = read_journal(path_);
    drop_replaced(journal, file, head_, repaired_);
    for (Entry& entry : journal.entries)
      if (const auto now = moved_.find(entry.key); now != moved_.end()) entry.key = now->second;
    if (!moved_.empty()) replace_journal(path_, journal);
    is_complete_ = false;
    reopen();
  }
  if (!complete || is_complete_ || !descriptor_.is_open()) return;
  write_all(descriptor_.get(), end_of_journal, path_.string());
}

void Journal::remove() {
  std::error_code ignored;
  if (descriptor_.is_open()) fs::remove(path_, ignored);
}

}  // namespace facesat

// The journal as a file: a title, the options of the run, and one line per record.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results/journal.hpp"

namespace facesat {

struct JournalFile {
  // Incremented whenever replaced records are removed. The output of a new generation is prepared
  // in a file of its own; the generation in the journal decides which file is valid.
  int generation = 0;
  ResultOptions options;
  std::vector<Journal::Entry> entries;
  bool is_complete = false;  // the run finished
  // The file holds exactly this, so that it need not be written again.
  bool file_is_current = false;
};

// The text of a journal, and of one entry.
std::string to_text(const JournalFile& journal);
std::string to_text(const Journal::Entry& entry);

// The last line of the journal of a run that finished.
constexpr std::string_view end_of_journal = "complete\n";

// The path of the journal of `output`, next to it.
std::filesystem::path journal_of(const std::filesystem::path& output);

// Is there a journal? An empty file does not count: a power failure can leave one.
bool has_journal(const std::filesystem::path& file);

// Write a journal, which does not end with end_of_journal, into FILE.new, and move that to FILE.
// The first throws UsageError if a file of that name exists that facesat did not write; both throw
// OutputError.
void prepare_journal(const std::filesystem::path& file, const JournalFile& journal);
void install_journal(const std::filesystem::path& file);
// Both: replaces an existing journal as a whole or not at all.
void replace_journal(const std::filesystem::path& file, const JournalFile& journal);

// Reads a journal. An unfinished last line is ignored, because it was being written when the run
// ended. Throws UsageError for a file that is not a journal.
JournalFile read_journal(const std::filesystem::path& file);

// The key of an input of which only the name in the results is known, not the path.
std::string name_key(const std::string& name);
// The path or name in a key.
std::string_view path_in(std::string_view key);

}  // namespace facesat

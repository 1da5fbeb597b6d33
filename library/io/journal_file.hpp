// The journal as a file: a title, the options of the run, and a line for each record.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "library/io/journal.hpp"

namespace facesat {

struct JournalFile {
  // Counts the times that failed inputs were retried. The output of a new generation is prepared as
  // a file of its own; what the journal says decides which one is valid.
  int generation = 0;
  ResultOptions options;
  std::vector<Journal::Entry> entries;
  bool is_complete = false;  // the run came to its end
};

// The text of `journal`, and that of one entry.
std::string to_text(const JournalFile& journal);
std::string to_text(const Journal::Entry& entry);

// The last line of a journal whose run came to its end.
constexpr std::string_view end_of_journal = "complete\n";

// The journal's place, beside the output.
std::filesystem::path journal_of(const std::filesystem::path& output);

// Is there one? An empty file is what is left of one if the machine lost its power.
bool has_journal(const std::filesystem::path& file);

// Writes a journal in the place of the one that may be there, all or nothing. Throws UsageError if
// a name that it needs is taken by a file of somebody else, OutputError.
void replace_journal(const std::filesystem::path& file, const JournalFile& journal);

// A last line without an end is left out: it was being written when the run ended. Throws
// UsageError for a file that is not a journal.
JournalFile read_journal(const std::filesystem::path& file);

// The journal that a JSON Lines output would have had, from its records; a last line without an end
// is left out. Throws UsageError if it holds anything but records, if frames of a video are
// missing, or if names are not UTF-8: JSON does not tell them apart.
JournalFile journal_of_jsonl(const std::filesystem::path& file);

// The key of entries that are known by their names.
std::string name_key(const std::string& name);

}  // namespace facesat

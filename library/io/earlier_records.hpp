// The records that earlier runs have written into an output: a run that goes on takes them up, and
// drops those that it has replaced.
#pragma once

#include <set>

#include "library/io/journal.hpp"
#include "library/io/journal_file.hpp"
#include "library/io/result_file.hpp"

namespace facesat {

// What earlier runs have completed, and `file` is made to hold. A JSON Lines file without a journal
// gets one made from its records; an output that was deleted is begun anew. Throws UsageError, with
// nothing changed, if the output or the journal is not what facesat wrote, or was written with
// other options; OutputError.
JournalFile take_up(ResultFile& file, const Layout& layout, const ResultOptions& options);

// Takes the records of inputs that were tried again, and of failures that are repaired, out of the
// output and of the journal that describes it. `head` bytes come before the first record. Throws
// OutputError.
void drop_replaced(JournalFile& journal, ResultFile& file, std::uint64_t head,
                   const std::set<Journal::Input>& repaired = {});

}  // namespace facesat

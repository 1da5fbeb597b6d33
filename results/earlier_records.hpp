// The records that earlier runs have written to an output: a resumed run takes them over, and drops
// those that it has replaced.
#pragma once

#include <set>

#include "results/journal.hpp"
#include "results/journal_file.hpp"
#include "results/result_file.hpp"

namespace facesat {

// Returns what earlier runs have completed, and finishes an interrupted replacement of records in
// `file`. A JSON Lines file without a journal gets one made from its records; if the output was
// deleted or is empty, nothing counts as completed. Throws UsageError, with nothing changed, if the
// output or the journal is not what facesat wrote, or was written with other options; OutputError
// if they cannot be written.
JournalFile take_up(ResultFile& file, const Layout& layout, const ResultOptions& options);

// Removes from the output and from its journal the earlier records of inputs that were tried again,
// and those of the inputs in `repaired`. `head` bytes come before the first record. Throws
// OutputError.
void drop_replaced(JournalFile& journal, ResultFile& file, std::uint64_t head,
                   const std::set<Journal::Input>& repaired = {});

}  // namespace facesat

// The journal beside an output file: which inputs have their records in it, so that a run that was
// interrupted can be completed exactly. OUTPUT.resume exists from the start of a run to the end of
// one without a failed input.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "library/io/result_file.hpp"
#include "library/io/results.hpp"

namespace facesat {

// The options that results depend on, as the command line calls them, and their values.
using ResultOptions = std::vector<std::pair<std::string, std::string>>;

// Tells the contents of an input's file from what they were before.
struct InputVersion {
  std::uint64_t change = 0;  // of its size and times; 0: unknown
  std::uint64_t inode = 0;   // of its file, which it keeps when a folder above it is renamed; not
                             // every file system keeps it from one mount to the next
  auto operator<=>(const InputVersion&) const = default;
};

// What earlier runs have written about an input.
struct InputState {
  int records = 0;        // pictures have one, videos one for each frame
  bool complete = false;  // no more will come
  bool failed = false;    // one of them is a failure
  InputVersion version;
};

struct JournalFile;

class Journal {
 public:
  // One record of the output. An input is known by its key and its number among those of that key:
  // "path " and its absolute path, links to its folder resolved; or, of results without a journal,
  // "name " and its name in them, which inputs of two folders may share.
  struct Entry {
    std::string key;
    int occurrence = 0;
    std::optional<int> frame;
    bool failed = false, last_of_input = true;
    InputVersion version;        // of the input
    std::uint64_t end = 0;       // bytes of the output up to the end of this record
    std::uint64_t checksum = 0;  // of the record's bytes: see checksum()
  };
  using Input = std::pair<std::string, int>;  // key and occurrence
  enum class Mode { fresh, resume, retry_failed };

  // Takes over `file`, which keeps what earlier runs have completed: nothing, unless resuming. A
  // JSON Lines file without a journal gets one made from its records. An output that is no regular
  // file has no journal. Throws UsageError, with nothing changed, if the output or the journal is
  // not what facesat wrote, was written with other options or, unless resuming, belongs to a run
  // that did not come to its end; OutputError if they cannot be written.
  Journal(ResultFile& file, const Layout& layout, const ResultOptions& options, Mode mode);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The next input: what its entries have in common, and what is known of it. An input that has
  // changed since its records were written is a new one; they are dropped at the end. One that was
  // moved with its folder is the same. `name`: as results call it.
  struct Place {
    std::string key;
    int occurrence = 0;
    InputVersion version;
    InputState earlier;
  };
  Place enter(const std::filesystem::path& path, const std::string& name);

  // A folder among the inputs could be read: the failure of an earlier run that could not is
  // repaired, if failures are tried again.
  void enter_folder(const std::filesystem::path& folder);

  // A record is about to be written to the output: one that the journal does not know would be
  // taken for somebody else's. May be called beside enter(). Throws OutputError.
  void add(const Entry& entry);

  // No more records come. Takes those out of the output that later ones have replaced, and notes
  // where inputs were moved. `complete`:
  // all inputs have theirs, so that a run without --resume may begin anew. Throws OutputError.
  void finish(ResultFile& file, bool complete);

  std::size_t earlier_failures() const { return earlier_failures_; }  // inputs not retried
  std::size_t changed() const { return changed_; }                    // inputs processed again
  // Inputs that share their name with another one, where results without a journal tell nothing
  // but names.
  std::size_t ambiguous() const { return ambiguous_; }
  // A sentence on what cannot be known of results that had no journal; else empty.
  const std::string& remark() const { return remark_; }

  // All inputs are complete: the journal is of no use any more.
  void remove();

 private:
  struct Known {
    std::map<int, InputState> earlier;  // by occurrence
    int entered = 0;
    std::string path;  // of the input that came first, if they are known by their name alone
  };

  void open(const JournalFile& journal);
  void reopen();
  std::string path_key(const std::filesystem::path& input);
  std::optional<std::string> key_before_move(const InputVersion& version,
                                             const std::string& name) const;

  std::filesystem::path path_;
  std::optional<std::filesystem::path> folder_;  // of the input that was entered last
  std::string key_of_folder_;
  std::uint64_t head_ = 0;  // bytes of the output before its first record
  bool retries_ = false, replaces_ = false, has_names_ = false;
  int descriptor_ = -1;
  std::unordered_map<std::string, Known> known_;
  std::multimap<InputVersion, std::string> keys_;
  std::set<Input> repaired_;                            // folders
  std::unordered_map<std::string, std::string> moved_;  // keys, and what they are now
  std::size_t earlier_failures_ = 0, changed_ = 0, ambiguous_ = 0;
  std::string remark_;
};

}  // namespace facesat

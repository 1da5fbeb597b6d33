// The journal next to an output file: it lists the inputs whose records the output has, so that an
// interrupted run can be completed exactly, and a finished one be extended. OUTPUT.resume exists
// from the start of a run, and stays, unless the run ends without failed inputs and was not started
// with --resume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/input_version.hpp"
#include "results/result_file.hpp"
#include "results/results.hpp"
#include "support/files.hpp"

namespace facesat {

// The options that the results depend on, as named on the command line, and their values; those
// that came with later versions only if they differ from their defaults.
using ResultOptions = std::vector<std::pair<std::string, std::string>>;

// The results of an input that earlier runs have written.
struct InputState {
  int records = 0;        // 1 for a picture; the frames of a video up to the last one recorded
  bool complete = false;  // there will be no more records
  bool failed = false;    // one of the records is a failure
  InputVersion version;
};

struct JournalFile;

class Journal {
 public:
  // One record of the output. An input is identified by its key and its number among the inputs
  // with that key. The key is "path " and the absolute path, with links in the folder resolved, and
  // "/" and the name of the member if it is in an archive; or,
  // for results without a journal, "name " and the name in the results, which inputs from two
  // folders may share.
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

  // Takes over `file`. When resuming, the file keeps what earlier runs have completed; otherwise
  // its contents are dropped. A JSON Lines file without a journal gets one made from its records.
  // An output that is not a regular file has no journal. Throws UsageError, with nothing changed,
  // if the output or the journal is not what facesat wrote, was written with other options or,
  // unless resuming, belongs to a run that did not finish; OutputError if they cannot be written.
  Journal(ResultFile& file, const Layout& layout, const ResultOptions& options, Mode mode);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // To be called for each input in order; `name` is its name in the results. Returns what all
  // entries of the input share, and what earlier runs have written about it. An input that has
  // changed since its records were written counts as a new one, and the old records are dropped at
  // the end. An input that was moved with its folder counts as the same.
  struct InputEntry {
    std::string key;
    int occurrence = 0;
    InputVersion version;
    InputState earlier;
  };
  // `member`: its name within the archive `path`, if it is in one; it changes with the archive.
  // `read`: the version of what is read, if that is not the file that has the path now.
  InputEntry enter(const std::filesystem::path& path, const std::string& name,
                   const std::string& member = "", const std::optional<InputVersion>& read = {});

  // A folder or archive among the inputs was read; `version` is that of the archive. If an earlier
  // run could not read it, and failures are retried or the archive has changed, that failure is
  // repaired.
  void enter_folder(const std::filesystem::path& folder, const InputVersion& version);

  // To be called before a record is written to the output, because a record that the journal does
  // not know would be taken for foreign data. May run concurrently with enter(). Throws
  // OutputError.
  void add(const Entry& entry);

  // There are no more records. Removes the records that later ones have replaced from the output,
  // and stores the new keys of inputs that were moved. `complete`: all inputs have their records,
  // so that a run without --resume may start again from nothing. Throws OutputError.
  void finish(ResultFile& file, bool complete);

  std::size_t earlier_failures() const { return earlier_failures_; }  // failed inputs, not retried
  std::size_t changed() const { return changed_; }                    // inputs processed again
  // The number of inputs whose name was taken by an earlier input of another path, if the results
  // had no journal and are known only by name.
  std::size_t ambiguous() const { return ambiguous_; }
  // A sentence on what is unknown about results that had no journal; else empty.
  const std::string& remark() const { return remark_; }

  // Deletes the journal, because all inputs are complete, and nobody asked for it.
  void remove();

 private:
  // What earlier runs have written about the inputs with one key.
  struct Known {
    std::map<int, InputState> earlier;  // by occurrence
    int entered = 0;                    // how often it was entered in this run
    std::string path;  // key of the first input with this name, if entries are known only by name
  };

  void remember(const JournalFile& journal);  // its entries
  void reopen();                              // opens the file, to append to it
  std::string path_key(const std::filesystem::path& input);
  std::optional<std::string> key_before_move(const InputVersion& version,
                                             const std::string& name) const;

  std::filesystem::path path_;
  std::optional<std::filesystem::path> folder_;  // of the input entered last
  std::string key_of_folder_;
  std::uint64_t head_ = 0;  // bytes of the output before its first record
  // retries_: the mode is retry_failed. replaces_: some earlier records are replaced. has_names_:
  // some entries are known only by name. is_complete_: the file ends with end_of_journal.
  bool retries_ = false, replaces_ = false, has_names_ = false, is_complete_ = false;
  Descriptor descriptor_;
  std::unordered_map<std::string, Known> known_;        // by key
  std::multimap<InputVersion, std::string_view> keys_;  // of known_, by the input's version
  // How often other keys were entered in this run, by their name_hash(). They have memory of their
  // own: between pictures, these small objects would keep the memory of those from being reused.
  std::pmr::monotonic_buffer_resource memory_{1 << 20};
  std::pmr::unordered_map<std::uint64_t, int> entered_{&memory_};
  std::set<Input> repaired_;                            // folders that can be read again
  std::unordered_map<std::string, std::string> moved_;  // old keys -> new keys
  std::size_t earlier_failures_ = 0, changed_ = 0, ambiguous_ = 0;
  std::string remark_;
};

}  // namespace facesat

// The files that `facesat live` writes: none may be one that it reads, and no two may be the same.
#pragma once

#include <array>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace facesat::app {

class Outputs {
 public:
  // An option of the command line and its file; without a file it is not given.
  struct Output {
    std::string option;
    std::filesystem::path file;
  };

  // Throws UsageError, before anything is written, if a file cannot be written or is another output
  // or a cascade.
  Outputs(const Output& screenshot, const Output& times, const Output& record,
          const std::vector<std::string>& cascades);

  // Throws UsageError if writing an output would destroy what this source reads: the file itself
  // or, of a folder, one of its pictures and videos. For any thread.
  void check_source(const std::string& source) const;

  // Throw UsageError if an output exists and is not what facesat wrote there. Recordings do not
  // bear a mark: they never replace a file.
  void check_contents() const;
  void check_screenshot() const;
  void check_times() const;

  // The recording that runs now; empty: there is none. For any thread.
  void set_recording(const std::filesystem::path& file);

 private:
  const std::array<Output, 2> files_;
  mutable std::mutex mutex_;
  Output recording_;
};

// Makes an empty file for something that the user wants to keep: facesat-DATE.EXTENSION in the
// current folder, never one that exists. Throws OutputError.
std::string make_dated_file(const std::string& extension);

}  // namespace facesat::app

// The files that `facesat live` writes: none may be a file that it reads, and all must be
// different.
#pragma once

#include <array>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace facesat::app {

class Outputs {
 public:
  // A command-line option and its file, which is empty if the option was not given.
  struct Output {
    std::string option;
    std::filesystem::path file;
  };

  // Throws UsageError, before anything is written, if a file cannot be written, or is the same as
  // another output or a cascade.
  Outputs(const Output& screenshot, const Output& times, const Output& record,
          const std::vector<std::string>& cascades);

  // Throws UsageError if writing an output would overwrite what this source reads: the file itself,
  // or a picture or video of a folder. May be called from any thread.
  void check_source(const std::string& source) const;

  // Throw UsageError if an output exists and was not written by facesat. Recordings bear no mark,
  // so they never replace a file.
  void check_contents() const;
  void check_screenshot() const;
  void check_times() const;

  // The current recording; empty: there is none. May be called from any thread.
  void set_recording(const std::filesystem::path& file);

 private:
  const std::array<Output, 2> files_;  // the screenshot and the times
  mutable std::mutex mutex_;
  Output recording_;
};

// Creates an empty file for a screenshot, recording or table of times: facesat-DATE.EXTENSION in
// `folder` (empty: the current one), never one that exists. Returns its path. Throws OutputError.
std::string make_dated_file(const std::string& folder, const std::string& extension);
// Creates an empty folder facesat-DATE-NAME in the same way.
std::string make_dated_folder(const std::string& folder, const std::string& name);

}  // namespace facesat::app

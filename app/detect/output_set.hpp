// The outputs of a run other than its records, and what no output may overwrite: inputs, lists of
// inputs, cascades, and other outputs.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "app/detect/options.hpp"
#include "app/detect/picture_output.hpp"

namespace facesat::app {

class OutputSet {
 public:
  // Makes the folders. Throws UsageError if a picture or video would overwrite an input named on
  // the command line or one of another folder; if results or messages would go into a list of
  // inputs; if results would go into an input; if standard output would go into a cascade or into
  // any picture or video; or if messages would go into the results file. `command` must outlive it.
  explicit OutputSet(const DetectCommand& command);

  bool has_pictures() const { return !pictures_.empty(); }
  // The folder for videos with blurred faces; null if there is none.
  const PictureFolder* videos() const;
  // The folders that are written into: what is there is no input.
  std::vector<std::filesystem::path> folders() const;
  // Writes all that becomes of the item's picture. May be called from any thread.
  void write(Item& item, View<const Bgr> picture) const;

  // From now on no picture replaces this file, nor an input that is named on the command line or in
  // a list that is a file. Those of folders are protected when a picture is written.
  void protect(const std::filesystem::path& results);

 private:
  void require_inputs_untouched() const;
  void require_folders_apart() const;

  const DetectCommand& command_;
  std::vector<std::unique_ptr<PictureOutput>> pictures_;
};

// Do none of the inputs exist, as far as that can be known in advance? Paths from standard input or
// a pipe are not known yet.
bool are_all_missing(const DetectCommand& command);

}  // namespace facesat::app

// What a run writes for each picture besides its record: a class for each kind, with a folder of
// its own. make_picture_outputs() lists them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/detect/item.hpp"
#include "app/detect/options.hpp"
#include "results/picture_folder.hpp"

namespace facesat::app {

class PictureOutput {
 public:
  virtual ~PictureOutput() = default;

  const std::string& option() const { return option_; }  // as given: "--annotate boxes/"
  PictureFolder& folder() { return folder_; }
  const PictureFolder& folder() const { return folder_; }

  // Writes what becomes of the item's picture. May be called from any thread. Throws InputError if
  // this picture cannot be written, OutputError if none can.
  virtual void write(Item& item, View<const Bgr> picture) const = 0;

  // The name, in the folder, of what is written for an input named on the command line, if that
  // could be the input's own; else empty. what(): what that is, in a sentence.
  virtual std::string name_for(const std::string& input) const = 0;
  virtual std::string what(const std::string& input) const = 0;

  // The folder for videos of frames with blurred faces, if it is one.
  virtual const PictureFolder* videos() const { return nullptr; }

 protected:
  PictureOutput(const char* option, const std::string& folder);

 private:
  std::string option_;
  PictureFolder folder_;
};

// Those that the user asked for, in the order in which they are written. `command` must outlive
// them. Throws UsageError if a folder cannot be made.
std::vector<std::unique_ptr<PictureOutput>> make_picture_outputs(const DetectCommand& command);

}  // namespace facesat::app

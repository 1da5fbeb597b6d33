// Processes an item: decodes its picture, finds faces, and writes the pictures made from it.
#pragma once

#include <optional>

#include "app/detect/item.hpp"
#include "app/detect/options.hpp"
#include "results/picture_folder.hpp"

namespace facesat::app {

// The folders for annotated pictures, crops, and pictures and videos with blurred faces, if these
// are written.
struct PictureFolders {
  std::optional<PictureFolder> annotate, crops, blur;

  bool any() const { return annotate || crops || blur; }

  // From now on no picture replaces this file.
  void protect(const std::filesystem::path& file) {
    if (annotate) annotate->protect(file);
    if (crops) crops->protect(file);
    if (blur) blur->protect(file);
  }
};

// Failures of the input become part of the record; failures that end the run become Item::error.
void process(Item& item, const Detector& detector, const DetectCommand& command,
             const PictureFolders& folders);

}  // namespace facesat::app

// An item's picture is decoded, faces are found, pictures with boxes and crops are written.
#pragma once

#include <optional>

#include "app/detect/item.hpp"
#include "app/detect/options.hpp"
#include "app/detect/workers.hpp"
#include "library/io/picture_folder.hpp"

namespace facesat::app {

// Where pictures are written, if they are.
struct PictureFolders {
  std::optional<PictureFolder> annotate, crops;

  bool any() const { return annotate || crops; }

  // No picture takes the place of this file.
  void protect(const std::filesystem::path& file) {
    if (annotate) annotate->protect(file);
    if (crops) crops->protect(file);
  }
};

// Failures of the input become part of the record, those that end the run Item::error.
void process(Item& item, Workers& workers, const DetectCommand& command,
             const PictureFolders& folders);

}  // namespace facesat::app

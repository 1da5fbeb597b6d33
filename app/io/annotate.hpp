// faces -> overlay: pictures with boxes, and one picture a face.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_set>

#include "app/io/codec.hpp"
#include "app/io/results.hpp"

namespace facesat::app {

// Names for the pictures made of inputs: relative, below the folder they go to, and no two the
// same, whatever the inputs are called. The same inputs in the same order get the same names.
class PictureNames {
 public:
  // Of the picture with boxes; ends in .jpg, .jpeg or .png.
  std::string add(const std::string& image, std::optional<int> frame);

 private:
  std::unordered_set<std::string> used_;
};

// The colour of a cascade's boxes.
Bgr cascade_colour(std::size_t cascade);

// A copy of the picture with a box around each face; each cascade has its own colour.
Image<Bgr> with_boxes(View<const Bgr> picture, const std::vector<FoundFace>& faces);

// Writes one picture a face: FOLDER/NAME_1.png, _2, ... Throws OutputError.
void write_crops(const std::filesystem::path& folder, const std::string& name,
                 View<const Bgr> picture, const std::vector<FoundFace>& faces);

}  // namespace facesat::app

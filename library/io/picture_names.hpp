// Names for the pictures that are made of inputs.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace facesat {

// Names are relative, below the folder that they go to, and no two are the same, whatever the
// inputs are called. The same inputs in the same order get the same names.
class PictureNames {
 public:
  // Of the picture with boxes: ends in .jpg, .jpeg or .png. For a video, what the names of its
  // frames begin with.
  std::string add(const std::string& image, bool is_video);

  static std::string of_frame(const std::string& video, int frame);  // VIDEO_000012.jpg
  static std::string of_crop(const std::string& picture, int face);  // PICTURE_1.png

 private:
  bool is_free(const std::string& name) const;

  // The names given, and what those that end like frames and crops would be made of.
  std::set<std::string> used_, origins_;
};

// Where a picture made of `image` lies below its folder: nothing in `image` leads out of it.
std::string name_below(const std::string& image, bool is_video);

}  // namespace facesat

// Cut-outs of pictures for the page of an evaluation.
#pragma once

#include <string>
#include <vector>

#include "app/evaluate/pictures.hpp"
#include "core/image.hpp"

namespace facesat::app {

struct CutOut {
  std::size_t picture;  // its number
  Rect box;
};

struct Cut {
  std::string uri;  // a JPEG file; empty if the picture cannot be read any more
  Size size;
};

// Each shows a box in the middle and half of its width and height more at each side, and is as
// large as it is in the picture, but not larger than `longest` pixels. Each picture is read once.
std::vector<Cut> cut_out(const std::vector<TestPicture>& pictures,
                         const std::vector<CutOut>& cut_outs, int longest);

}  // namespace facesat::app

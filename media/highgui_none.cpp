// For builds without OpenCV's highgui, which show no pictures.
#include "media/highgui.hpp"
#include "support/errors.hpp"

namespace facesat {

const HighGui& highgui() {
  throw UsageError("this build shows no pictures (it was made without OpenCV's highgui)");
}

}  // namespace facesat

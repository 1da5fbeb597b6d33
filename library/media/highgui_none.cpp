// For builds without OpenCV's highgui, which show no pictures.
#include "library/media/highgui.hpp"
#include "library/support/errors.hpp"

namespace facesat {

const HighGui& highgui() {
  throw UsageError("this build shows no pictures (it was made without OpenCV's highgui)");
}

}  // namespace facesat

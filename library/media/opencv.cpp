#include "library/media/opencv.hpp"

#include "library/media/load_module.hpp"

namespace facesat {

const OpenCv& opencv() {
  static const void* const table = load_module(FACESAT_OPENCV_MODULE, "facesat_opencv");
  return *static_cast<const OpenCv*>(table);
}

}  // namespace facesat

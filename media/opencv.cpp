#include "media/opencv.hpp"

#include "media/load_module.hpp"

namespace facesat {

const OpenCv& opencv() {
  static const void* const table = load_module(FACESAT_OPENCV_MODULE, "facesat_opencv");
  return *static_cast<const OpenCv*>(table);
}

}  // namespace facesat

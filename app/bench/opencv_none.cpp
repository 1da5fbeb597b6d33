// For builds without OpenCV.
#include "app/bench/contender.hpp"

namespace facesat::app {

std::unique_ptr<Contender> make_opencv_contender(const std::string&, const DetectOptions&) {
  return nullptr;
}

}  // namespace facesat::app

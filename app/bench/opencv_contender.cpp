// For builds with OpenCV.
#include "app/bench/contender.hpp"
#include "cascades/cascade_store.hpp"
#include "media/opencv.hpp"

namespace facesat::app {

std::unique_ptr<Contender> make_opencv_contender(const std::string& cascade_name,
                                                 const DetectOptions& options) {
  const auto file = cascade_file(cascade_name);
  return file ? opencv().make_contender(file->string(), options) : nullptr;
}

}  // namespace facesat::app

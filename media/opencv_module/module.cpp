#include "media/opencv_module/module.hpp"

#include <opencv2/core/utility.hpp>

#include "media/contender.hpp"

namespace facesat::module {
namespace {

std::string version() {
  return cv::getVersionString();
}

#ifndef FACESAT_OBJDETECT  // this OpenCV has no detector; otherwise contender.cpp is built
std::unique_ptr<Contender> make_contender(const std::string&, const DetectOptions&) {
  return nullptr;
}
#endif

}  // namespace

// The symbol that opencv() looks for.
extern "C" const OpenCv facesat_opencv;
const OpenCv facesat_opencv{version,     read_picture_file, open_video,
                            open_camera, open_video_writer, make_contender};

}  // namespace facesat::module

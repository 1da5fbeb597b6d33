// For builds without OpenCV, which read no videos.
#include "library/media/video.hpp"
#include "library/support/errors.hpp"

namespace facesat {

std::unique_ptr<FrameSource> open_video(const std::filesystem::path&, std::size_t) {
  throw InputError("decode", "this build reads no videos (it was made without OpenCV)");
}

const std::vector<std::string_view>& video_extensions() {
  static const std::vector<std::string_view> none;
  return none;
}

}  // namespace facesat

// For builds without OpenCV, which read no pictures but those that have readers of their own, read
// and write no videos, and read no cameras and streams.
#include "media/codec.hpp"
#include "media/live_source.hpp"
#include "media/opencv.hpp"
#include "media/video.hpp"
#include "support/errors.hpp"

namespace facesat {

void prepare_codecs(const DecodeLimits&) {}  // each reader gets its limits

Picture read_other_picture(const InputFile&, const DecodeLimits&) {
  throw InputError("decode", "this is not a picture that can be decoded");
}

std::string other_codec_name() {
  return "";
}

std::vector<std::string_view> other_picture_extensions() {
  return {};
}

std::unique_ptr<FrameSource> open_video(const std::filesystem::path&, std::size_t) {
  throw InputError("decode", "this build reads no videos (it was made without OpenCV)");
}

std::unique_ptr<FrameSource> open_live(const std::string&, const FrameChoice&, std::size_t) {
  throw InputError("read",
                   "this build reads no cameras and no streams (it was made without OpenCV)");
}

bool is_live_source_open() {
  return false;
}

bool is_animation(const std::filesystem::path&) {
  return false;
}

const OpenCv& opencv() {
  throw InputError("decode", "this build has no OpenCV");
}

const std::vector<std::string_view>& video_extensions() {
  static const std::vector<std::string_view> none;
  return none;
}

}  // namespace facesat

// Videos, animations and streams.
#include <utility>

#include <fmt/format.h>

#include "media/input_file.hpp"
#include "media/matroska.hpp"
#include "media/source_name.hpp"
#include "media/source_openers.hpp"
#include "media/video_source.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {

std::unique_ptr<FrameSource> open_video(const std::filesystem::path& file, std::size_t max_pixels) {
  if (!has_opencv())
    throw InputError("decode", "this build reads no videos (it was made without OpenCV)");
  const InputFile input(file);
  // The path is absolute, because FFmpeg takes a relative name with a colon for a URL.
  std::unique_ptr<VideoInput> capture =
      opencv().open_video(std::filesystem::absolute(file).string());
  if (!capture) throw InputError("decode", "this is not a video that can be decoded");
  const Size size{static_cast<int>(capture->get(VideoInput::frame_width)),
                  static_cast<int>(capture->get(VideoInput::frame_height))};
  check_size(size, {.max_pixels = max_pixels});
  auto video = std::make_unique<VideoSource>(FrameSource::Kind::video, "", std::move(capture));
  if (is_matroska(input.beginning())) {  // the size of the file tells more than the duration
    const auto whole = matroska_size(input.beginning());
    video->set_warning(whole && *whole > input.size()
                           ? fmt::format("the video ends early: the file has {} of its {} bytes",
                                         input.size(), *whole)
                           : "");
  }
  return video;
}

// FFmpeg decodes a text file as a video of its letters. Only playlists are texts that lead to
// videos.
bool is_text(std::string_view beginning) {
  return !beginning.empty() && beginning.find('\0') == beginning.npos &&
         !beginning.starts_with("#EXTM3U");
}

std::unique_ptr<FrameSource> open_video_file(const SourceRequest& request) {
  if (!request.path) return nullptr;
  if (is_text(InputFile(*request.path).beginning()))
    throw InputError(
        "decode", fmt::format("{}: this is a text, neither a video nor a picture", request.name));
  std::unique_ptr<VideoInput> capture = opencv().open_video(request.path->string());
  if (!capture)
    throw InputError("decode", fmt::format("{}: this is neither a video nor a picture that can be "
                                           "decoded",
                                           request.name));
  return std::make_unique<VideoSource>(FrameSource::Kind::video, request.name, std::move(capture));
}

// A stream with a known number of frames counts as a video, and is played at its frame rate.
std::unique_ptr<FrameSource> open_stream(const SourceRequest& request) {
  if (request.path || request.camera) return nullptr;
  const std::string name = without_credentials(request.name);
  std::unique_ptr<VideoInput> capture = opencv().open_video(request.name);
  if (!capture)
    throw InputError("read",
                     fmt::format("{}: this stream cannot be opened; is its address right?", name));
  const auto kind = capture->get(VideoInput::frame_count) > 0 ? FrameSource::Kind::video
                                                              : FrameSource::Kind::stream;
  return std::make_unique<VideoSource>(kind, name, std::move(capture));
}

// Reading two frames is the way to find out.
bool is_animation(const std::filesystem::path& file) {
  if (!has_opencv() || !InputFile(file).beginning().starts_with("GIF8")) return false;
  const auto video = opencv().open_video(std::filesystem::absolute(file).string());
  return video && video->next(new_frame<Bgr>) && video->next(new_frame<Bgr>);
}

std::unique_ptr<FrameSource> open_animation(const SourceRequest& request) {
  if (!request.path || !is_animation(*request.path)) return nullptr;
  return std::make_unique<VideoSource>(FrameSource::Kind::video, request.name,
                                       opencv().open_video(request.path->string()));
}

const std::vector<std::string_view>& video_extensions() {
  using Extensions = std::vector<std::string_view>;
  static const Extensions extensions =
      has_opencv() ? Extensions{".avi", ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".mpg",   ".mpeg",
                                ".wmv", ".flv", ".ogv", ".3gp", ".ts",  ".mts",  ".mjpeg", ".mjpg"}
                   : Extensions();
  return extensions;
}

bool has_media_extension(const std::filesystem::path& file) {
  return has_extension(file, picture_extensions()) || has_extension(file, video_extensions());
}

}  // namespace facesat

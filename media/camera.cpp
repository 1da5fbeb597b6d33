// Cameras, as Video4Linux lists them and OpenCV opens them.
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "media/source_openers.hpp"
#include "media/video_source.hpp"
#include "support/errors.hpp"

namespace facesat {
namespace {

std::string device_of(int number) {
  return fmt::format("/dev/video{}", number);
}

// nullopt if there is no such device, or if it is not a camera.
std::optional<CameraInfo> look_at(int number) {
  const std::string device = device_of(number);
  std::error_code none;
  if (!std::filesystem::exists(device, none)) return std::nullopt;
  const int descriptor = open(device.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return CameraInfo{number, "", std::strerror(errno)};
  v4l2_capability found{};
  const bool answers = ioctl(descriptor, VIDIOC_QUERYCAP, &found) == 0;
  const std::string why = std::strerror(errno);
  close(descriptor);
  if (!answers) return CameraInfo{number, "", why};
  // device_caps, where they exist, are those of this device; capabilities are those of the
  // hardware.
  const auto abilities =
      found.capabilities & V4L2_CAP_DEVICE_CAPS ? found.device_caps : found.capabilities;
  if ((abilities & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) == 0)
    return std::nullopt;
  return CameraInfo{number, reinterpret_cast<const char*>(found.card), ""};
}

// Chooses MJPG if it gives a higher frame rate than raw frames, of which cameras often deliver only
// a few per second. `frames_per_second`: the rate to request, or 0.
void choose_format(VideoInput& capture, double frames_per_second) {
  const auto rate = [&] {  // requests the rate in the current format, and returns the actual one
    if (frames_per_second > 0) capture.set(VideoInput::fps, frames_per_second);
    return capture.get(VideoInput::fps);
  };
  const double raw_format = capture.get(VideoInput::fourcc), raw_rate = rate();
  capture.set(VideoInput::fourcc, v4l2_fourcc('M', 'J', 'P', 'G'));
  if (rate() > raw_rate) return;
  capture.set(VideoInput::fourcc, raw_format);
  rate();  // only requests the rate again, because changing the format may reset it
}

// Why a device could not be opened.
std::string why_not(const std::string& device) {
  const int descriptor = open(device.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const int reason = descriptor < 0 ? errno : 0;
  if (descriptor >= 0) close(descriptor);
  switch (reason) {
    case 0:
      return "it cannot be opened; does another program use it?";
    case ENOENT:
      return "there is no such device; is the camera connected?";
    case EACCES:
      return "you may not open it; are you in the group \"video\"?";
    default:
      return std::strerror(reason);
  }
}

// Such as "1280 x 720, 30 frames/s, MJPG".
std::string mode_text(const VideoInput& capture) {
  const auto code = static_cast<unsigned>(capture.get(VideoInput::fourcc));
  std::string format;
  for (int byte = 0; byte < 4; ++byte) {
    const auto letter = static_cast<unsigned char>(code >> 8 * byte);
    if (std::isprint(letter) != 0) format += static_cast<char>(letter);
  }
  return fmt::format("{:.0f} x {:.0f}, {:.4g} frames/s, {}", capture.get(VideoInput::frame_width),
                     capture.get(VideoInput::frame_height), capture.get(VideoInput::fps), format);
}

}  // namespace

std::vector<CameraInfo> cameras() {
  std::vector<CameraInfo> found;
  // Numbers may have gaps; devices from /dev/video64 on are not looked for.
  for (int number = 0; number < 64; ++number)
    if (std::optional<CameraInfo> camera = look_at(number)) found.push_back(std::move(*camera));
  return found;
}

namespace {

// `name`: the number or the device of a camera.
std::unique_ptr<FrameSource> open_named(const std::string& name, const CameraMode& mode) {
  const bool is_number = std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  const std::string device = is_number ? device_of(std::stoi(name)) : name;
  std::unique_ptr<VideoInput> capture = opencv().open_camera(device);
  if (!capture) throw InputError("read", fmt::format("camera {}: {}", device, why_not(device)));
  if (mode.size.width > 0) {
    capture->set(VideoInput::frame_width, mode.size.width);
    capture->set(VideoInput::frame_height, mode.size.height);
  }
  choose_format(*capture, mode.frames_per_second);
  capture->set(VideoInput::buffersize, 1);  // so that frames are recent ones
  const std::string title = fmt::format("camera {}: {}", device, mode_text(*capture));
  const auto format = static_cast<std::uint32_t>(capture->get(VideoInput::fourcc));
  auto camera = std::make_unique<VideoSource>(FrameSource::Kind::camera, title, std::move(capture));
  if (format == V4L2_PIX_FMT_MJPEG || format == V4L2_PIX_FMT_JPEG) camera->decode_jpegs();
  return camera;
}

// Opens the first camera that can be opened. The failure lists all that were tried.
std::unique_ptr<FrameSource> open_first(const CameraMode& mode) {
  std::string tried;
  for (const CameraInfo& camera : cameras()) {
    std::string problem = camera.problem;
    if (problem.empty()) try {
        return open_named(fmt::format("{}", camera.number), mode);
      } catch (const InputError&) {
        problem = "it cannot be opened";
      }
    tried += fmt::format("{}{}{}: {}", tried.empty() ? "" : "; ", device_of(camera.number),
                         camera.name.empty() ? "" : fmt::format(" ({})", camera.name), problem);
  }
  throw InputError("read", fmt::format("there is no camera ({}): open a video, a picture or a "
                                       "folder instead",
                                       tried.empty() ? "no /dev/video* exists" : tried));
}

}  // namespace

std::unique_ptr<FrameSource> open_camera(const SourceRequest& request) {
  if (!request.camera) return nullptr;
  return request.camera->empty() ? open_first(request.mode)
                                 : open_named(*request.camera, request.mode);
}

}  // namespace facesat

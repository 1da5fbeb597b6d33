#include <fstream>

#include <fmt/format.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "app/errors.hpp"
#include "app/io/codec.hpp"
#include "app/io/files.hpp"
#include "app/io/video.hpp"

namespace facesat::app {
namespace {

// imread knows no GIF; the video reader does, and a picture is its first frame.
bool is_gif(const std::filesystem::path& file) {
  char signature[4]{};
  std::ifstream(file, std::ios::binary).read(signature, sizeof signature);
  return std::string_view(signature, sizeof signature) == "GIF8";
}

Picture read_gif(const std::filesystem::path& file) {
  std::optional<Frame> first = open_video(file)->next();
  if (!first) throw InputError("decode", "this GIF has no frame that can be decoded");
  return first->picture;
}

InputError to_input_error(const cv::Exception& error) {
  if (error.code == cv::Error::StsNoMem)
    return {"memory", "there is not enough memory for this picture"};
  if (error.err.find("CV_IO_MAX_IMAGE") != std::string::npos)  // 2^20 a side, 2^30 pixels
    return {"decode", "its header gives a size beyond what is ever decoded"};
  return {"decode", fmt::format("this picture cannot be decoded: {}", error.err)};
}

}  // namespace

Picture read_picture(const std::filesystem::path& file) {
  require_readable(file);
  try {
    if (is_gif(file)) return read_gif(file);
    auto image = std::make_shared<cv::Mat>(cv::imread(file.string(), cv::IMREAD_COLOR));
    if (image->empty()) throw InputError("decode", "this is not a picture that can be decoded");
    const View<const Bgr> pixels{reinterpret_cast<const Bgr*>(image->data),
                                 {image->cols, image->rows},
                                 static_cast<std::ptrdiff_t>(image->step / sizeof(Bgr))};
    return {pixels, image, warning_about(file)};
  } catch (const cv::Exception& error) {
    throw to_input_error(error);
  }
}

void write_picture(const std::filesystem::path& file, View<const Bgr> pixels) {
  const cv::Mat image(pixels.size.height, pixels.size.width, CV_8UC3,
                      const_cast<Bgr*>(pixels.data),  // imencode only reads
                      static_cast<std::size_t>(pixels.pitch) * sizeof(Bgr));
  std::vector<unsigned char> bytes;
  try {
    if (!cv::imencode(file.extension().string(), image, bytes)) bytes.clear();
  } catch (const cv::Exception&) {
    bytes.clear();
  }
  if (bytes.empty())
    throw OutputError(fmt::format("{}: the picture cannot be encoded", file.string()));
  write_file(file, bytes);
}

std::string codec_name() {
  return fmt::format("OpenCV {}", cv::getVersionString());
}

const std::vector<std::string_view>& picture_extensions() {
  static const std::vector<std::string_view> extensions{
      ".jpg", ".jpeg", ".jpe", ".jp2", ".png", ".bmp",  ".dib",  ".pbm", ".pgm", ".ppm", ".pxm",
      ".pnm", ".pfm",  ".sr",  ".ras", ".tif", ".tiff", ".webp", ".exr", ".hdr", ".pic", ".gif"};
  return extensions;
}

}  // namespace facesat::app

#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <opencv2/imgcodecs.hpp>

#include "media/opencv_module/module.hpp"
#include "support/errors.hpp"

namespace facesat::module {
namespace {

// imread cannot read GIFs, but the video reader can: the picture is the first frame.
bool is_gif(const std::filesystem::path& file) {
  char signature[4]{};
  std::ifstream(file, std::ios::binary).read(signature, sizeof signature);
  return std::string_view(signature, sizeof signature) == "GIF8";
}

NewFrame<Bgr> make_frame(Size size) {
  const auto image = std::make_shared<Image<Bgr>>(size);
  return {image->view(), image};
}

Picture read_gif(const std::filesystem::path& file) {
  const std::unique_ptr<VideoInput> video = open_video(std::filesystem::absolute(file).string());
  const auto next = [&] { return video->next(make_frame); };
  std::optional<Picture> first = video ? next() : std::nullopt;
  if (!first) throw InputError("decode", "this GIF has no frame that can be decoded");
  if (next()) first->warning = only_first_frame;
  return std::move(*first);
}

InputError to_input_error(const cv::Exception& error) {
  if (error.code == cv::Error::StsNoMem)
    return {"memory", "there is not enough memory for this picture"};
  if (error.err.find("CV_IO_MAX_IMAGE") != std::string::npos)  // see prepare_codecs()
    return {"limit",
            "its header gives more pixels than are decoded; --max-pixels raises the limit, up to "
            "1048576 a side"};
  return {"decode", fmt::format("this picture cannot be decoded: {}", error.err)};
}

}  // namespace

Picture read_picture_file(const std::filesystem::path& file) {
  try {
    if (is_gif(file)) return read_gif(file);
    const auto image = std::make_shared<cv::Mat>(cv::imread(file.string(), cv::IMREAD_COLOR));
    if (image->empty()) throw InputError("decode", "this is not a picture that can be decoded");
    // A PFM file of one channel has one although colours are asked for.
    if (image->channels() == 1) cv::merge(std::vector(3, image->clone()), *image);
    if (image->type() != CV_8UC3)
      throw InputError("decode", "this picture cannot be decoded to 8-bit colour");
    return to_picture(image);
  } catch (const cv::Exception& error) {
    throw to_input_error(error);
  }
}

}  // namespace facesat::module

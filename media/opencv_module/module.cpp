#include "media/opencv_module/module.hpp"

#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "media/contender.hpp"
#include "support/errors.hpp"

namespace facesat::module {
namespace {

std::string version() {
  return cv::getVersionString();
}

// ---- videos

static_assert(int{VideoInput::pos_msec} == cv::CAP_PROP_POS_MSEC &&
              int{VideoInput::pos_frames} == cv::CAP_PROP_POS_FRAMES &&
              int{VideoInput::frame_width} == cv::CAP_PROP_FRAME_WIDTH &&
              int{VideoInput::frame_height} == cv::CAP_PROP_FRAME_HEIGHT &&
              int{VideoInput::fps} == cv::CAP_PROP_FPS &&
              int{VideoInput::fourcc} == cv::CAP_PROP_FOURCC &&
              int{VideoInput::frame_count} == cv::CAP_PROP_FRAME_COUNT &&
              int{VideoInput::convert_rgb} == cv::CAP_PROP_CONVERT_RGB &&
              int{VideoInput::buffersize} == cv::CAP_PROP_BUFFERSIZE);

class OpenCvInput final : public VideoInput {
 public:
  OpenCvInput(const std::string& name, int api) : capture_(name, api) {
    if (is_open())
      size_ = {static_cast<int>(get(frame_width)), static_cast<int>(get(frame_height))};
  }
  bool is_open() const { return capture_.isOpened(); }

  bool grab() override {
    try {
      return capture_.grab();
    } catch (const cv::Exception&) {  // a damaged video ends where it cannot be decoded
      return false;
    }
  }
  std::optional<Picture> retrieve(MakeFrame make) override {
    const NewFrame<Bgr> frame = make(size_);
    const auto image = std::make_shared<cv::Mat>(to_mat(frame.pixels));
    try {
      if (!capture_.retrieve(*image) || image->type() != CV_8UC3) return std::nullopt;
    } catch (const cv::Exception&) {
      return std::nullopt;
    }
    const bool is_in_frame = image->data == reinterpret_cast<const uchar*>(frame.pixels.data);
    return is_in_frame ? Picture{frame.pixels, frame.owner, {}, {}} : to_picture(image);
  }
  // OpenCV may leave out up to three bytes at the end, where frames have different lengths: seldom
  // more than the end marker, without which libjpeg-turbo decodes all the same.
  std::span<const unsigned char> retrieve_encoded() override {
    try {
      if (!capture_.retrieve(encoded_) || encoded_.type() != CV_8UC1 || !encoded_.isContinuous())
        return {};
    } catch (const cv::Exception&) {
      return {};
    }
    return {encoded_.data, encoded_.total()};
  }
  double get(Property property) const override { return capture_.get(property); }
  void set(Property property, double value) override { capture_.set(property, value); }

 private:
  cv::VideoCapture capture_;
  Size size_;  // of frames, as the video says
  cv::Mat encoded_;
};

std::unique_ptr<VideoInput> open(const std::string& name, int api) {
  auto capture = std::make_unique<OpenCvInput>(name, api);
  return capture->is_open() ? std::move(capture) : nullptr;
}

class OpenCvWriter final : public VideoWriter {
 public:
  // `c`: the four letters of the codec.
  OpenCvWriter(const std::string& file, const std::string& c, double frames_per_second, Size size)
      : writer_(file, cv::VideoWriter::fourcc(c[0], c[1], c[2], c[3]), frames_per_second,
                {size.width, size.height}) {}
  bool is_open() const { return writer_.isOpened(); }
  void add(View<const Bgr> frame) override { writer_.write(to_mat(frame)); }

 private:
  cv::VideoWriter writer_;
};

std::unique_ptr<VideoInput> open_video(const std::string& name) {
  return open(name, cv::CAP_ANY);
}

std::unique_ptr<VideoInput> open_camera(const std::string& device) {
  return open(device, cv::CAP_V4L2);
}

std::unique_ptr<VideoWriter> write_video(const std::string& file, const std::string& codec,
                                         double frames_per_second, Size size) {
  auto writer = std::make_unique<OpenCvWriter>(file, codec, frames_per_second, size);
  return writer->is_open() ? std::move(writer) : nullptr;
}

// ---- pictures

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

Picture read_picture(const std::filesystem::path& file) {
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

#ifndef FACESAT_OBJDETECT  // this OpenCV has no detector; otherwise contender.cpp is built
std::unique_ptr<Contender> make_contender(const std::string&, const DetectOptions&) {
  return nullptr;
}
#endif

}  // namespace

// The symbol that opencv() looks for.
extern "C" const OpenCv facesat_opencv;
const OpenCv facesat_opencv{version,     read_picture, open_video,
                            open_camera, write_video,  make_contender};

}  // namespace facesat::module

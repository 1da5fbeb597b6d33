#include <opencv2/videoio.hpp>

#include "media/opencv_module/module.hpp"

namespace facesat::module {
namespace {

int to_cv(VideoInput::Property property) {
  switch (property) {
    case VideoInput::pos_msec:
      return cv::CAP_PROP_POS_MSEC;
    case VideoInput::pos_frames:
      return cv::CAP_PROP_POS_FRAMES;
    case VideoInput::frame_width:
      return cv::CAP_PROP_FRAME_WIDTH;
    case VideoInput::frame_height:
      return cv::CAP_PROP_FRAME_HEIGHT;
    case VideoInput::fps:
      return cv::CAP_PROP_FPS;
    case VideoInput::fourcc:
      return cv::CAP_PROP_FOURCC;
    case VideoInput::frame_count:
      return cv::CAP_PROP_FRAME_COUNT;
    case VideoInput::buffersize:
      return cv::CAP_PROP_BUFFERSIZE;
  }
  return -1;  // not reached: all properties are listed above
}

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
  double get(Property property) const override { return capture_.get(to_cv(property)); }
  void set(Property property, double value) override { capture_.set(to_cv(property), value); }

 private:
  cv::VideoCapture capture_;
  Size size_;  // of frames, as the video says
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

}  // namespace

std::unique_ptr<VideoInput> open_video(const std::string& name) {
  return open(name, cv::CAP_ANY);
}

std::unique_ptr<VideoInput> open_camera(const std::string& device) {
  return open(device, cv::CAP_V4L2);
}

std::unique_ptr<VideoWriter> open_video_writer(const std::string& file, const std::string& codec,
                                               double frames_per_second, Size size) {
  auto writer = std::make_unique<OpenCvWriter>(file, codec, frames_per_second, size);
  return writer->is_open() ? std::move(writer) : nullptr;
}

}  // namespace facesat::module

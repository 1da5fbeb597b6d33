// Cameras, streams and films: whatever OpenCV's videoio opens.
#pragma once

#include <string>

#include <opencv2/videoio.hpp>

#include "app/live/source.hpp"

namespace facesat::app {

class VideoSource final : public Source {
 public:
  // Of an open capture.
  VideoSource(Kind kind, std::string title, cv::VideoCapture capture);

  Kind kind() const override { return kind_; }
  std::string title() const override { return title_; }
  double length() const override { return length_; }
  double step() const override { return step_; }
  std::optional<LiveFrame> next() override;
  void seek(double position) override;

 private:
  Kind kind_;
  std::string title_;
  cv::VideoCapture capture_;
  double length_ = 0, step_ = 1.0 / 30;
};

}  // namespace facesat::app

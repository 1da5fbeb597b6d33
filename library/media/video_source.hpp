// Cameras, streams and videos: whatever OpenCV's videoio opens.
#pragma once

#include <memory>
#include <string>

#include "library/media/opencv.hpp"
#include "library/media/source.hpp"

namespace facesat {

class VideoSource final : public Source {
 public:
  // Of an open capture.
  VideoSource(Kind kind, std::string title, std::unique_ptr<VideoInput> capture);

  Kind kind() const override { return kind_; }
  std::string title() const override { return title_; }
  double length() const override { return length_; }
  double step() const override { return step_; }
  std::optional<LiveFrame> next() override;
  void seek(double position) override;

 private:
  Kind kind_;
  std::string title_;
  std::unique_ptr<VideoInput> capture_;
  double length_ = 0, step_ = 1.0 / 30;
  bool has_frames_ = false;  // one was decoded
};

}  // namespace facesat

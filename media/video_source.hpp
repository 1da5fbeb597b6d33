// Cameras, streams and videos: everything that is opened by OpenCV's videoio.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "media/frame_source.hpp"
#include "media/opencv.hpp"

namespace facesat {

class VideoSource final : public FrameSource {
 public:
  // `capture` must be open.
  VideoSource(Kind kind, std::string title, std::unique_ptr<VideoInput> capture);

  Kind kind() const override { return kind_; }
  std::string title() const override { return title_; }
  double length() const override { return length_; }
  double step() const override { return step_; }
  std::optional<Frame> next() override;
  void choose(const FrameChoice& choice) override { choice_ = choice; }
  std::string warning() const override;
  void seek(double position) override;

  // For cameras whose frames are JPEGs, which then are decoded here, not by OpenCV. A damaged one
  // is passed over, also where it was chosen.
  void decode_jpegs();

  // For containers that show whether they are complete: sets the result of warning(), which may be
  // empty.
  void set_warning(std::string sentence) { known_warning_ = std::move(sentence); }

 private:
  using Clock = std::chrono::steady_clock;

  double time_at(Clock::time_point now) const;  // of the frame that was just grabbed
  std::optional<Picture> decode();
  bool is_chosen(int number, double time);

  Kind kind_;
  std::string title_;
  std::unique_ptr<VideoInput> capture_;
  double length_ = 0, step_ = 1.0 / 30;  // seconds; a step of 1/30 if the rate is unknown
  bool is_rate_known_ = false;
  FrameChoice choice_;
  int number_ = 0;                          // of the next frame
  double tick_ = -1;                        // of the last frame chosen: see is_chosen()
  std::optional<double> time_;              // of the last frame
  std::optional<Clock::time_point> start_;  // when the first frame arrived
  bool has_frames_ = false;                 // a frame was decoded
  bool gives_jpegs_ = false;
  int damaged_in_a_row_ = 0;  // of JPEGs
  double decode_ms_ = 0;      // of the last one
  std::optional<std::string> known_warning_;
};

}  // namespace facesat

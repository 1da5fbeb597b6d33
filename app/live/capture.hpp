// The thread that reads frames: at the pace of a video, as they come from a camera, or on request.
// Failures become messages; the thread keeps running and can open another source.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "app/live/captured_frame.hpp"
#include "app/live/guarded_thread.hpp"

namespace facesat::app {

class Capture {
 public:
  struct State {
    std::string name;  // as passed to open()
    std::string title;
    std::string refused;  // why the last requested source could not be opened; else empty
    std::string message;  // a problem with the frame, or that the video has ended
    bool failed = false;  // the frame could not be read
    std::optional<FrameSource::Kind> kind;
    std::string picture;  // the name of the picture shown; empty for videos
    double position = 0, length = 0;
    bool playing = true, loops = true;
    bool exhausted = false;  // no more frames, unless another position or source is chosen
    double speed = 1;

    bool is_playing() const { return playing && !exhausted; }
  };

  static constexpr std::string_view ended = "the video has ended";

  // Both are called by the capture thread: `post` with every frame, `admit` with the name of every
  // source before it is opened. `admit` throws an Error if the source must not be opened.
  explicit Capture(
      std::function<void(CapturedFrame)> post,
      std::function<void(const std::string&)> admit = [](const std::string&) {});

  // All of these return at once; the thread carries them out before its next frame.
  void open(const std::string& name, const CameraMode& mode = {});  // see open_source()
  void play(bool on);
  void loop(bool on);
  void set_speed(double factor);
  void seek(double position);
  void step(int frames);  // pauses, and shows the frame that many frames from the current one

  State state() const;

 private:
  struct Orders {
    std::optional<std::string> open;
    CameraMode mode;
    std::optional<double> seek;
    bool one_frame = false;  // show a frame even when paused
  };

  void run_once(const std::stop_token& stop);
  bool obey(const Orders& orders);
  void show_next();
  void fail(const std::string& reason);
  void restart_if_ended();
  void wait_for_pace(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  bool has_orders() const { return orders_.open || orders_.seek || orders_.one_frame; }

  const std::function<void(CapturedFrame)> post_;
  const std::function<void(const std::string&)> admit_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Orders orders_;
  State state_;

  // Used only by the thread.
  std::unique_ptr<FrameSource> source_;
  std::uint64_t opened_ = 0;  // sources
  double step_ = 1;
  std::chrono::steady_clock::time_point shown_;

  GuardedThread thread_;  // last: it uses all of the above
};

}  // namespace facesat::app

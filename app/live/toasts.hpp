// Short messages over the picture, such as where a screenshot was saved.
#pragma once

#include <chrono>
#include <deque>
#include <string>

namespace facesat::app {

class Toasts {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds lifetime{6};
  static constexpr std::size_t most = 5;  // the oldest make room for new ones

  void say(std::string text);
  void warn(std::string text);  // stays until it is clicked

  // Draws them into the lower left corner of the current window, that many pixels above its lower
  // edge.
  void draw(float above);

  struct Toast {
    std::string text;
    bool is_warning = false;
    Clock::time_point since;
  };
  // Those that are shown at this time.
  const std::deque<Toast>& shown(Clock::time_point now);

 private:
  void add(Toast toast);

  std::deque<Toast> toasts_;
};

}  // namespace facesat::app

#include "app/live/detection/frame_limit.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/messages.hpp"

namespace facesat::app {

FrameLimit::FrameLimit(int frames, Capture& capture, Detection& detection)
    : frames_(frames), capture_(capture), detection_(detection) {
  if (frames > 0) detection.limit(frames);
}

void FrameLimit::count(const LiveResult& drawn, bool is_fresh) {
  const bool is_new = is_fresh && drawn.is_new && !drawn.comes_again;
  if (is_new || (shown_ > 0 && drawn.frame.is_still())) ++shown_;
}

bool FrameLimit::is_out_of_reach() {
  if (frames_ == 0) return false;
  const Capture::State state = capture_.state();
  if (!state.refused.empty()) return is_out_of_reach_ = true;
  if (!detection_.idle()) return false;
  if (shown_ == 0 && state.failed && state.entry + 1 < state.count) {
    if (state.entry < next_) return false;  // it is about to be opened
    next_ = state.entry + 1;
    capture_.show(next_);
    return false;
  }
  const bool is_picture = state.kind == FrameSource::Kind::picture;
  return is_out_of_reach_ = is_picture ? shown_ == 0 && state.failed : state.exhausted;
}

int FrameLimit::status() const {
  if (frames_ == 0) return 0;
  const bool is_list = capture_.state().count > 1;
  const std::vector<std::string> unreadable =
      is_list ? capture_.unreadable() : std::vector<std::string>();
  for (const std::string& reason : unreadable) say_line(fmt::format("facesat: {}", reason));
  const bool is_short = is_out_of_reach_ && !is_reached();
  if (is_short && shown_ == 0) {
    if (unreadable.empty()) say_line(fmt::format("facesat: {}", why_over()));
    return 2;
  }
  if (is_short)
    say_line(fmt::format("facesat: {}, after {} of {} frames", why_over(), shown_, frames_));
  return is_short || !unreadable.empty() ? 1 : 0;
}

std::string FrameLimit::why_over() const {
  const Capture::State state = capture_.state();
  return state.refused.empty() ? state.message : state.refused;
}

}  // namespace facesat::app

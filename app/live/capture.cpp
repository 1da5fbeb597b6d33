#include "app/live/capture.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "library/support/errors.hpp"

namespace facesat::app {

using Clock = std::chrono::steady_clock;

Capture::Capture(std::function<void(CapturedFrame)> post,
                 std::function<void(const std::string&)> admit)
    : post_(std::move(post)),
      admit_(std::move(admit)),
      thread_([this](const std::stop_token& stop) { run_once(stop); },
              [this](const std::string& reason) { fail(reason); }) {}

void Capture::open(const std::string& name, const CameraMode& mode) {
  const std::scoped_lock lock(mutex_);
  orders_ = {.open = name, .mode = mode, .seek = std::nullopt, .one_frame = true};
  changed_.notify_all();
}

void Capture::play(bool on) {
  const std::scoped_lock lock(mutex_);
  state_.playing = on;
  if (on) restart_if_ended();
  changed_.notify_all();
}

void Capture::loop(bool on) {
  const std::scoped_lock lock(mutex_);
  state_.loops = on;
  if (on) restart_if_ended();
  changed_.notify_all();
}

void Capture::set_speed(double factor) {
  const std::scoped_lock lock(mutex_);
  state_.speed = std::clamp(factor, 0.05, 20.0);
  changed_.notify_all();
}

void Capture::seek(double position) {
  const std::scoped_lock lock(mutex_);
  orders_.seek = position;
  orders_.one_frame = true;
  changed_.notify_all();
}

void Capture::step(int frames) {
  const std::scoped_lock lock(mutex_);
  state_.playing = false;
  const double from = orders_.seek.value_or(state_.position);
  orders_.seek = std::clamp(from + frames * step_, 0.0, std::max(0.0, state_.length - step_));
  orders_.one_frame = true;
  changed_.notify_all();
}

Capture::State Capture::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

void Capture::run_once(const std::stop_token& stop) {
  Orders orders;
  {
    std::unique_lock lock(mutex_);
    if (!has_orders()) wait_for_pace(lock, stop);
    if (stop.stop_requested()) return;
    if (!has_orders() && !state_.playing) return;  // it was paused while this thread waited
    orders = std::exchange(orders_, {});
  }
  if (obey(orders) && source_ && !state_.exhausted) show_next();
}

// Waits until there are orders, or the next frame is due.
void Capture::wait_for_pace(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  const auto may_go_on = [this] { return has_orders() || (state_.playing && !state_.exhausted); };
  const bool is_slide_show = state_.kind == FrameSource::Kind::pictures;
  if (!source_ || is_slide_show || !may_go_on()) {
    changed_.wait(lock, stop, [&] {
      return has_orders() || (source_ && !is_slide_show && state_.playing && !state_.exhausted);
    });
    return;
  }
  if (state_.kind != FrameSource::Kind::video) return;  // reading a camera waits for its next frame
  const auto due = shown_ + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(step_ / state_.speed));
  changed_.wait_until(lock, stop, due, [this] { return has_orders() || !state_.playing; });
}

// Returns false if another source was requested and could not be opened; the previous one then
// stays open.
bool Capture::obey(const Orders& orders) {
  if (orders.open) {
    std::unique_ptr<FrameSource> source;
    std::string refused;
    try {
      admit_(*orders.open);
      source = open_source(*orders.open, orders.mode);
    } catch (const Error& error) {
      refused = error.what();
    } catch (...) {
      refused = fmt::format("{}: {}", *orders.open, reason_of(std::current_exception()));
    }
    const std::scoped_lock lock(mutex_);
    state_.refused = refused;
    if (!source) return false;
    source_ = std::move(source);
    ++opened_;
    state_.message.clear();
    state_.failed = state_.exhausted = false;
    step_ = source_->step();
    state_.name = *orders.open;
    state_.title = source_->title();
    state_.kind = source_->kind();
    state_.length = source_->length();
    state_.position = 0;
    state_.picture.clear();
    state_.playing = true;
  }
  if (orders.seek && source_) {
    source_->seek(*orders.seek);
    const std::scoped_lock lock(mutex_);
    state_.position = *orders.seek;  // even if reading fails: the next step starts from there
    state_.exhausted = false;
  }
  return true;
}

void Capture::show_next() {
  shown_ = Clock::now();
  std::optional<Frame> frame = source_->next();
  const bool is_video = source_->kind() == FrameSource::Kind::video;
  if (!frame && is_video && state().loops) {
    source_->seek(0);
    frame = source_->next();
  }
  const bool exhausted = !frame;
  std::string message;
  if (exhausted && is_video) message = ended;
  if (frame) {
    if (const std::string& warning = frame->picture.warning; !warning.empty())
      message = fmt::format("{}: {}", frame->name, warning);
    {
      const std::scoped_lock lock(mutex_);
      state_.position = frame->position;
      state_.picture = frame->name;
    }
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - shown_).count();
    CapturedFrame captured{std::move(*frame), opened_};
    captured.is_still = source_->kind() == FrameSource::Kind::pictures;
    captured.is_of_video = is_video;
    captured.capture_ms = ms;
    if (!captured.is_still) captured.rate = 1 / step_;
    captured.seconds =
        is_video ? captured.position
                 : std::chrono::duration<double>(captured.captured.time_since_epoch()).count();
    post_(std::move(captured));
  }
  const std::scoped_lock lock(mutex_);
  state_.message = message;
  state_.failed = false;
  state_.exhausted = exhausted;
}

// A video that has ended begins again when it is played or looped.
void Capture::restart_if_ended() {
  if (!state_.exhausted || state_.kind != FrameSource::Kind::video) return;
  state_.playing = true;
  orders_.seek = 0;
  orders_.one_frame = true;
}

// In a folder the next picture may be readable; any other source ends with a failure.
void Capture::fail(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  state_.message = reason;
  state_.failed = true;
  state_.exhausted = state_.kind != FrameSource::Kind::pictures;
}

}  // namespace facesat::app

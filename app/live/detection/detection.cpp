#include "app/live/detection/detection.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/errors.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

void leave_out_rejected(LiveResult& result, const CapturedFrame& frame) {
  result.rejected = std::erase_if(result.faces, [&](const Face& face) {
    return std::ranges::find(result.settings.rejected, rejected_face(face, result, frame)) !=
           result.settings.rejected.end();
  });
}

}  // namespace

Detection::Detection(LiveSettings settings, std::function<void()> on_result)
    : on_result_(std::move(on_result)),
      settings_(std::move(settings)),
      thread_([this](const std::stop_token& stop) { run_once(stop); },
              [this](const std::string& reason) { fail(reason); }) {}

void Detection::limit(int frames) {
  const std::scoped_lock lock(mutex_);
  frames_left_ = frames;
}

std::optional<LiveResult> Detection::take() {
  std::optional<LiveResult> result = results_.take();
  if (!result) return result;
  const std::scoped_lock lock(mutex_);
  is_taken_ = true;
  changed_.notify_all();
  return result;
}

void Detection::put(CapturedFrame frame) {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(newest_source_, frame.source) != frame.source) dropped_ = 0;
  dropped_ += newest_ && newest_->source == frame.source;
  newest_ = std::move(frame);
  changed_.notify_all();
}

void Detection::set(const LiveSettings& settings) {
  const std::scoped_lock lock(mutex_);
  settings_ = settings;
  settings_changed_ = true;
  changed_.notify_all();
}

void Detection::reload_cascades() {
  const std::scoped_lock lock(mutex_);
  cascades_changed_ = settings_changed_ = true;
  changed_.notify_all();
}

// Shows it in the last frame, too.
void Detection::follow(std::optional<MarkedObject> object) {
  const std::scoped_lock lock(mutex_);
  followed_ = std::move(object);
  settings_changed_ = true;
  changed_.notify_all();
}

LiveSettings Detection::settings() const {
  const std::scoped_lock lock(mutex_);
  return settings_;
}

std::uint64_t Detection::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

bool Detection::idle() const {
  const std::scoped_lock lock(mutex_);
  return !busy_ && !newest_ && !repeats_frame_;
}

void Detection::compare(SourceNames pictures) {
  const std::scoped_lock lock(mutex_);
  wants_comparison_ = true;
  compared_ = std::move(pictures);
  changed_.notify_all();
}

std::shared_ptr<const Comparison> Detection::comparison() const {
  const std::scoped_lock lock(mutex_);
  return comparison_;
}

void Detection::record(const std::string& file, double frames_per_second) {
  recorder_.set(file, frames_per_second);
}

void Detection::run_once(const std::stop_token& stop) {
  LiveSettings settings;
  SourceNames compared;
  bool is_new = false, detects = false, compares = false;
  {
    std::unique_lock lock(mutex_);
    busy_ = false;
    changed_.wait(lock, stop, [this] {
      return may_begin() &&
             (has_frame() ||
              ((settings_changed_ || wants_comparison_ || comparing_.is_under_way()) && last_));
    });
    if (stop.stop_requested()) return;
    busy_ = true;
    if (has_frame()) {
      is_new = true;
      last_ = std::exchange(newest_, std::nullopt);
      if (frames_left_) --*frames_left_;
    }
    is_new |= std::exchange(repeats_frame_, false);
    detects = std::exchange(settings_changed_, false) || is_new;
    if (detects) is_taken_ = false;
    settings = settings_;
    if (std::exchange(cascades_changed_, false)) search_.forget_cascades();
    if (followed_) tracker_.follow(std::move(*std::exchange(followed_, std::nullopt)));
    compares = std::exchange(wants_comparison_, false);
    compared = std::exchange(compared_, {});
  }
  if (detects) detect_last(settings, is_new, stop);
  if (compares) {
    comparing_.begin(*last_, search_, compared);
    show_comparison();
  }
  if (comparing_.is_under_way() && comparing_.go_on(*last_, search_)) show_comparison();
}

// This and the next function: the mutex must be locked.
bool Detection::may_begin() const {
  return !frames_left_ || is_taken_;  // a result that was not taken would be replaced
}

// Is there a frame to be processed next?
bool Detection::has_frame() const {
  return newest_ && !repeats_frame_ && (!frames_left_ || *frames_left_ > 0);
}

bool Detection::has_work() const {
  const std::scoped_lock lock(mutex_);
  return may_begin() && (has_frame() || settings_changed_ || wants_comparison_);
}

void Detection::detect_last(const LiveSettings& settings, bool is_new,
                            const std::stop_token& stop) {
  LiveResult result = detect(settings);
  result.is_new = is_new;
  const bool is_measured_again = result.message.empty() && (last_->is_still() || !is_new);
  const Subject subject = result.subject;
  if (is_new && !result.comes_again) record_frame(result);
  post(std::move(result));
  if (is_measured_again) measure_again(subject, stop);
}

LiveResult Detection::detect(const LiveSettings& settings) {
  const bool fails_over = !search_.use(settings);
  filter_.use(settings.filter, settings.inspection.filtered, without_sat(search_.machine()));
  LiveResult result = search_.result_for(*last_);
  result.subject.filter = filter_.changes();
  result.comes_again = fails_over;
  const View<const Bgr> pixels = last_->picture.pixels;
  try {
    search_.find(pixels, result);
    sort_by_place(result.faces);
    leave_out_rejected(result, *last_);
    search_.show_inside(pixels, result);
    if (filter_.is_on() && search_.failure().empty()) {
      result.filter = filter_.run(pixels, settings.detect.equalize, search_.device());
      result.view = filter_.picture();
    }
    result.track = tracker_.find(*last_, search_.device());
  } catch (...) {
    result.faces.clear();
    result.message = reason_of(std::current_exception());
    result.comes_again = search_.turn_to_cpu();
  }
  result.track_ended = tracker_.why_ended();
  if (fails_over || result.comes_again) repeat_on_cpu();
  result.frame = *last_;
  return result;
}

void Detection::repeat_on_cpu() {
  const std::scoped_lock lock(mutex_);
  settings_changed_ = repeats_frame_ = true;
}

void Detection::measure_again(const Subject& subject, const std::stop_token& stop) {
  constexpr std::chrono::seconds at_most(1);
  const auto begin = std::chrono::steady_clock::now();
  Repeats repeats{.subject = subject, .measurements = {}};
  for (int i = 1; i < still_measurements; ++i) {
    if (has_work() || stop.stop_requested()) break;
    if (std::chrono::steady_clock::now() - begin > at_most) break;
    LiveResult result;
    search_.find(last_->picture.pixels, result);
    if (filter_.is_on()) result.filter = filter_.run_again();
    repeats.measurements.push_back(
        {result.times, std::move(result.kernels), result.detect_ms, std::move(result.filter)});
  }
  repeats_.put(std::move(repeats));
  on_result_();
}

// Recordings last as long as their source, with repeated frames in its gaps; under a limit, gaps
// are left out.
void Detection::record_frame(const LiveResult& result) {
  const CapturedFrame& frame = result.frame;
  recorder_.add(frame.picture.pixels, result.faces,
                {frame.rate, frames_left_ ? std::nullopt : std::optional(frame.seconds)});
}

void Detection::show_comparison() {
  {
    const std::scoped_lock lock(mutex_);
    comparison_ = std::make_shared<const Comparison>(comparing_.now());
  }
  on_result_();
}

void Detection::post(LiveResult result) {
  results_.put(std::move(result));
  on_result_();
}

// For exceptions that no function below has turned into a message.
void Detection::fail(const std::string& reason) {
  LiveResult result;
  result.frame = *last_;
  result.message = reason;
  post(std::move(result));
}

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

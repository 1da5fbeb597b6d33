#include "app/live/frames/capture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "media/exif.hpp"
#include "media/frame_source.hpp"
#include "media/source_name.hpp"
#include "results/inputs.hpp"
#include "support/errors.hpp"

namespace facesat::app {

std::vector<PlaylistEntry> make_playlist(const std::vector<std::string>& names) {
  std::vector<PlaylistEntry> entries;
  std::string failure;
  for (const std::string& name : names) {
    if (!source_path(name)) {
      entries.push_back({name, name});
      continue;
    }
    Inputs inputs({.inputs = {name}, .excluded = {}});
    while (const std::optional<Input> input = inputs.next()) {
      if (input->kind != Input::Kind::failure)
        entries.push_back({input->path.string(), input->name});
      else if (failure.empty())
        failure = fmt::format("{}: {}", input->path.string(), input->failure);
    }
  }
  if (!entries.empty()) return entries;
  if (failure.empty())
    failure = fmt::format("{}: there are no pictures and no videos in it", fmt::join(names, ", "));
  throw InputError("read", failure);
}

using Kind = FrameSource::Kind;

Capture::Capture(std::function<void(CapturedFrame)> post,
                 std::function<void(const std::string&)> admit)
    : post_(std::move(post)),
      admit_(std::move(admit)),
      thread_([this](const std::stop_token& stop) { run_once(stop); },
              [this](const std::string& reason) { fail(reason); }) {}

void Capture::open(std::vector<std::string> names, const CameraMode& mode) {
  const std::scoped_lock lock(mutex_);
  orders_ = {};
  orders_.open = std::move(names);
  orders_.mode = mode;
  state_.is_opening = true;
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

void Capture::set_slide_seconds(double seconds) {
  const std::scoped_lock lock(mutex_);
  state_.slide_seconds = std::clamp(seconds, 0.1, 3600.0);
  changed_.notify_all();
}

void Capture::seek(double position) {
  const std::scoped_lock lock(mutex_);
  orders_.seek = position;
  orders_.jumps = true;
  changed_.notify_all();
}

void Capture::show(std::size_t entry) {
  const std::scoped_lock lock(mutex_);
  if (state_.count == 0) return;
  orders_.entry = std::min(entry, state_.count - 1);
  orders_.seek.reset();
  changed_.notify_all();
}

void Capture::skip(int entries) {
  const std::scoped_lock lock(mutex_);
  if (state_.count == 0) return;
  const auto from = static_cast<std::ptrdiff_t>(orders_.entry.value_or(state_.entry));
  const auto last = static_cast<std::ptrdiff_t>(state_.count) - 1;
  orders_.entry = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(from + entries, 0, last));
  orders_.seek.reset();
  changed_.notify_all();
}

void Capture::step(int frames) {
  if (state().kind != Kind::video) return skip(frames);
  {
    const std::scoped_lock lock(mutex_);
    state_.playing = false;
    const double last = std::max(0.0, state_.length - state_.step);
    const double to = orders_.seek.value_or(state_.position) + frames * state_.step;
    const double half = state_.step / 2;  // positions are rounded
    const bool leaves = state_.count > 1 && last > 0 && (to < -half || to > last + half);
    if (!leaves) {
      orders_.seek = std::clamp(to, 0.0, last);
      changed_.notify_all();
      return;
    }
  }
  skip(frames > 0 ? 1 : -1);
}

void Capture::rotate() {
  const std::scoped_lock lock(mutex_);
  if (!can_turn()) return;
  state_.quarter_turns = (state_.quarter_turns + (state_.mirrored ? 3 : 1)) % 4;
  show_again();
}

void Capture::mirror() {
  const std::scoped_lock lock(mutex_);
  if (!can_turn()) return;
  state_.mirrored = !state_.mirrored;
  show_again();
}

// This and the next function: the mutex must be locked. A live frame that is paused cannot be read
// again.
bool Capture::can_turn() const {
  const bool is_live = state_.kind == Kind::camera || state_.kind == Kind::stream;
  return state_.kind && !state_.is_opening && (!is_live || plays());
}

// Unless another frame follows anyway.
void Capture::show_again() {
  if (state_.kind == Kind::picture)
    orders_.entry = orders_.entry.value_or(state_.entry);
  else if (state_.kind == Kind::video && !plays())
    orders_.seek = orders_.seek.value_or(state_.position);
  changed_.notify_all();
}

Capture::State Capture::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

std::vector<std::string> Capture::unreadable() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> reasons;
  for (const auto& [entry, reason] : unreadable_) reasons.push_back(reason);
  return reasons;
}

void Capture::run_once(const std::stop_token& stop) {
  Orders orders;
  {
    std::unique_lock lock(mutex_);
    wait_for_pace(lock, stop);
    if (stop.stop_requested()) return;
    if (!orders_.any() && !plays()) return;  // it was paused while this thread waited
    orders = std::exchange(orders_, {});
  }
  if (obey(orders)) show_next(orders.any());
}

// Waits until there are orders, or the next frame is due.
void Capture::wait_for_pace(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  changed_.wait(lock, stop, [this] { return orders_.any() || plays(); });
  while (!orders_.any() && plays() && !stop.stop_requested()) {
    const Clock::time_point until = due();  // changes with the speed
    if (Clock::now() >= until) return;
    changed_.wait_until(lock, stop, until,
                        [&] { return orders_.any() || !plays() || due() != until; });
  }
}

Capture::Clock::time_point Capture::due() const {
  if (state_.kind == Kind::camera || state_.kind == Kind::stream)
    return shown_;  // reading them waits for their next frame
  const double seconds =
      state_.kind == Kind::picture ? state_.slide_seconds : state_.step / state_.speed;
  return shown_ +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Returns false if there is nothing to show.
bool Capture::obey(const Orders& orders) {
  if (orders.open && !open_list(orders)) return false;
  if (orders.entry && list_ && *orders.entry < list_->size()) open_entry(*orders.entry);
  if (orders.seek && source_) {
    source_->seek(*orders.seek);
    sequences_ += orders.jumps;
    const std::scoped_lock lock(mutex_);
    state_.position = *orders.seek;  // even if reading fails: the next step starts from there
    state_.exhausted = false;
  }
  return list_ != nullptr;
}

// Returns false if nothing could be opened; the previous list then stays.
bool Capture::open_list(const Orders& orders) {
  std::vector<PlaylistEntry> list;
  std::unique_ptr<FrameSource> first;
  std::string reason;
  try {
    for (const std::string& name : *orders.open) admit_(name);
    list = make_playlist(*orders.open);
    first = open_source(list.front().source, orders.mode);
  } catch (const Error& error) {
    reason = error.what();
  } catch (...) {
    reason =
        fmt::format("{}: {}", fmt::join(*orders.open, ", "), reason_of(std::current_exception()));
  }
  // In a longer list others may be readable.
  const bool is_refused = !first && list.size() < 2;
  {
    const std::scoped_lock lock(mutex_);
    state_.refused = is_refused ? reason : "";
    state_.is_opening = orders_.open.has_value();  // another one was requested meanwhile
    if (is_refused) return false;
    ++state_.lists;
    unreadable_.clear();
    state_.names = *orders.open;
    state_.quarter_turns = 0;
    state_.mirrored = false;
    state_.count = list.size();
    state_.list = list_ = std::make_shared<const std::vector<PlaylistEntry>>(std::move(list));
    state_.playing = !first || first->kind() != Kind::picture;
  }
  mode_ = orders.mode;
  use(0, std::move(first), reason);
  return true;
}

void Capture::open_entry(std::size_t entry) {
  std::unique_ptr<FrameSource> source;
  std::string reason;
  try {
    source = open_source((*list_)[entry].source, mode_);
  } catch (...) {
    reason = reason_of(std::current_exception());
  }
  use(entry, std::move(source), reason);
}

// `source`: null if the entry cannot be read for this reason.
void Capture::use(std::size_t entry, std::unique_ptr<FrameSource> source,
                  const std::string& reason) {
  source_ = std::move(source);
  ++opened_;
  ++sequences_;
  const std::scoped_lock lock(mutex_);
  state_.entry = entry;
  state_.source = opened_;
  state_.title = source_ && state_.count == 1 ? source_->title() : (*list_)[entry].name;
  state_.message = reason;
  state_.failed = !source_;
  if (state_.failed) unreadable_[entry] = reason;
  state_.exhausted = false;
  state_.kind = source_ ? source_->kind() : Kind::picture;  // is passed over like a picture
  state_.length = source_ ? source_->length() : 0;
  state_.step = source_ ? source_->step() : 1;
  state_.position = 0;
}

std::optional<std::size_t> Capture::following() const {
  if (state_.entry + 1 < state_.count) return state_.entry + 1;
  return state_.loops ? std::optional<std::size_t>(0) : std::nullopt;
}

// `is_requested`: by the user, not because a list or video plays.
void Capture::show_next(bool is_requested) {
  shown_ = Clock::now();
  std::optional<Frame> frame;
  if (source_) frame = source_->next();
  const bool goes_on = source_ ? state().playing : !is_requested;
  if (!frame && goes_on) frame = frame_of_following();
  if (frame) return post(std::move(*frame));
  const std::scoped_lock lock(mutex_);
  if (!source_ && goes_on && following())
    return;  // the next one cannot be opened, and its reason is shown
  if (source_ && state_.kind == Kind::video) state_.message = ended;
  state_.exhausted = source_ != nullptr || goes_on;
}

// Opens what is to be played next: a single video again from its beginning.
std::optional<Frame> Capture::frame_of_following() {
  std::optional<std::size_t> next;
  bool is_same = false;
  {
    const std::scoped_lock lock(mutex_);
    next = following();
    is_same = next == state_.entry;
  }
  if (!next) return std::nullopt;
  if (is_same && source_) {
    source_->seek(0);
    ++sequences_;
  } else {
    open_entry(*next);
  }
  return source_ ? source_->next() : std::nullopt;
}

// As EXIF orientations: rotated by as many quarter turns, and the same mirrored.
static Picture turned(Picture picture, int quarter_turns, bool mirrored) {
  static constexpr std::array<int, 4> rotated{1, 6, 3, 8}, and_mirrored{2, 5, 4, 7};
  const auto turns = static_cast<std::size_t>(quarter_turns);
  return upright(std::move(picture), mirrored ? and_mirrored[turns] : rotated[turns]);
}

void Capture::post(Frame frame) {
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - shown_).count();
  CapturedFrame captured{std::move(frame)};
  captured.source = opened_;
  const Kind kind = source_->kind();
  captured.kind = kind;
  captured.capture_ms = ms - captured.decode_ms;
  if (!captured.is_still()) captured.rate = 1 / source_->step();
  captured.seconds =
      kind == Kind::video
          ? captured.position
          : std::chrono::duration<double>(captured.captured.time_since_epoch()).count();
  int quarter_turns = 0;
  bool mirrored = false;
  {
    const std::scoped_lock lock(mutex_);
    captured.name = (*list_)[state_.entry].name;
    captured.origin = (*list_)[state_.entry].source;
    captured.list = state_.lists;
    captured.entry = state_.entry;
    captured.entries = state_.count;
    if (kind == Kind::picture) {
      captured.index = state_.entry;
      captured.count = state_.count;
    } else if (kind == Kind::video) {
      captured.index = static_cast<std::size_t>(std::round(captured.position / state_.step));
      captured.count = static_cast<std::size_t>(std::round(state_.length / state_.step));
    }
    if (const std::string& warning = captured.picture.warning; warning.empty())
      state_.message.clear();
    else
      state_.message = fmt::format("{}: {}", captured.name, warning);
    state_.position = captured.position;
    state_.failed = state_.exhausted = false;
    quarter_turns = state_.quarter_turns;
    mirrored = state_.mirrored;
  }
  const int turns = 2 * quarter_turns + mirrored;
  sequences_ += std::exchange(turned_, turns) != turns;
  captured.sequence = sequences_;
  captured.posted = ++posted_;
  if (turns != 0) captured.picture = turned(std::move(captured.picture), quarter_turns, mirrored);
  post_(std::move(captured));
}

// What has ended begins again when it is played or looped; a camera is opened again.
void Capture::restart_if_ended() {
  if (!state_.exhausted) return;
  state_.playing = true;
  orders_.entry = following().value_or(0);
}

// In a list the next source may be readable.
void Capture::fail(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  state_.message = reason;
  state_.failed = true;
  unreadable_[state_.entry] = reason;
  if (state_.count > 1) {
    source_.reset();
    state_.kind = Kind::picture;  // is passed over like a picture
  }
  state_.exhausted = state_.kind != Kind::picture;
}

}  // namespace facesat::app

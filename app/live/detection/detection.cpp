#include "app/live/detection/detection.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "app/live/detection/cpu_comparison.hpp"
#include "app/live/detection/sat_facts.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/filter/cuda_picture_filter.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {
namespace {

BackendOptions without_sat(BackendOptions options) {
  options.sat.clear();
  return options;
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

void Detection::compare() {
  const std::scoped_lock lock(mutex_);
  wants_comparison_ = true;
  changed_.notify_all();
}

std::shared_ptr<const Comparison> Detection::comparison() const {
  const std::scoped_lock lock(mutex_);
  return comparison_;
}

void Detection::run_once(const std::stop_token& stop) {
  LiveSettings settings;
  bool is_new = false, detects = false, compares = false;
  {
    std::unique_lock lock(mutex_);
    busy_ = false;
    changed_.wait(lock, stop, [this] {
      return may_begin() &&
             (has_frame() || ((settings_changed_ || wants_comparison_ || comparing_) && last_));
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
    compares = std::exchange(wants_comparison_, false);
  }
  if (detects) {
    use(settings);
    detect_last(is_new, stop);
  }
  if (compares) begin_comparison();
  if (comparing_) continue_comparison();
}

void Detection::detect_last(bool is_new, const std::stop_token& stop) {
  LiveResult result = detect(*last_);
  result.is_new = is_new;
  const bool repeats = result.message.empty() && (last_->is_still() || !is_new);
  const Subject subject = result.subject;
  if (is_new && !result.comes_again) record_frame(result);
  results_.put(std::move(result));
  on_result_();
  if (repeats) repeat(subject, stop);
}

// This and the next function: the mutex must be locked.
bool Detection::may_begin() const {
  return !frames_left_ || is_taken_;  // a result that was not taken would be replaced
}

// Is there a frame to be processed next?
bool Detection::has_frame() const {
  return newest_ && !repeats_frame_ && (!frames_left_ || *frames_left_ > 0);
}

// Recordings last as long as their source, with repeated frames in its gaps; under a limit, gaps
// are left out.
void Detection::record_frame(const LiveResult& result) {
  const CapturedFrame& frame = result.frame;
  recorder_.add(frame.picture.pixels, result.faces,
                {frame.rate, frames_left_ ? std::nullopt : std::optional(frame.seconds)});
}

bool Detection::has_work() const {
  const std::scoped_lock lock(mutex_);
  return may_begin() && (has_frame() || settings_changed_ || wants_comparison_);
}

void Detection::repeat(const Subject& subject, const std::stop_token& stop) {
  constexpr std::chrono::seconds at_most(1);
  const auto begin = std::chrono::steady_clock::now();
  Repeats repeats{.subject = subject, .measurements = {}};
  for (int i = 1; i < still_measurements; ++i) {
    if (has_work() || stop.stop_requested()) break;
    if (std::chrono::steady_clock::now() - begin > at_most) break;
    LiveResult result;
    find(last_->picture.pixels, result);
    if (built_->inspection.filtered && filter_view_)
      result.filter = filter_view_->run(built_->filter);
    repeats.measurements.push_back({result.times, result.detect_ms, std::move(result.filter)});
  }
  repeats_.put(std::move(repeats));
  on_result_();
}

// For exceptions that no function below has turned into a message.
void Detection::fail(const std::string& reason) {
  LiveResult result;
  result.frame = *last_;
  result.message = reason;
  results_.put(std::move(result));
  on_result_();
}

// Detectors are replaced only if the settings require others.
void Detection::use(const LiveSettings& settings) {
  if (!built_ || built_->backend != settings.backend) device_failed_ = false;
  const BackendOptions backend = usable_backend(settings);
  const bool same_machine = built_ && built_backend_ == backend;
  const bool same =
      same_machine && built_->cascades == settings.cascades && built_->detect == settings.detect;
  const bool same_search = built_ && built_->cascades == settings.cascades &&
                           built_->detect == settings.detect &&
                           built_->inside_of == settings.inside_of;
  if (!same_machine || !same_search) ++settings_count_;
  const bool same_device = built_ && without_sat(built_backend_) == without_sat(backend);
  if (!same_search || !same_device) ++any_sat_count_;
  if (!same_device) speed_ = {}, filter_view_.reset();
  if (!built_ || built_->filter != settings.filter ||
      built_->inspection.filtered != settings.inspection.filtered)
    ++filter_count_;
  built_ = settings;
  built_backend_ = backend;
  if (same) return;
  detectors_.clear();
  failure_.clear();
  try {
    std::vector<std::shared_ptr<const Cascade>> cascades;
    for (const std::string& name : settings.cascades) cascades.push_back(find_cascade(name));
    const Backends backends(backend, cascades);
    backend_ = backends.device_name();
    sat_ = backends.sat();
    on_device_ = backends.on_gpu();
    if (on_device_) device_ = backends.devices().front().id;
    if (speed_.memory == 0) speed_ = on_device_ ? gpu::copy_speed(device_) : host_copy_speed();
    first_cascade_ = cascades.empty() ? nullptr : cascades.front();
    for (const auto& cascade : cascades)
      detectors_.emplace_back(cascade, settings.detect, backends.make());
  } catch (...) {
    detectors_.clear();
    failure_ = reason_of(std::current_exception());
    turn_to_cpu();
  }
}

// Called after a failure. Returns false if detection was not on a device, or if the user chose the
// device explicitly.
bool Detection::turn_to_cpu() {
  if (!on_device_ || built_backend_.choice != BackendChoice::automatic) return false;
  const std::scoped_lock lock(mutex_);
  device_failed_ = settings_changed_ = repeats_frame_ = true;
  return true;
}

// The settings stay as the user chose them when the CPU takes over.
BackendOptions Detection::usable_backend(const LiveSettings& settings) const {
  BackendOptions backend = settings.backend;
  if (!device_failed_) return backend;
  backend.choice = BackendChoice::cpu;
  backend.sat.clear();
  return backend;
}

LiveResult Detection::detect(CapturedFrame frame) {
  LiveResult result;
  result.subject = {frame.source, settings_count_, frame.picture.pixels.size};
  result.any_sat = result.subject;
  result.any_sat.settings = any_sat_count_;
  result.subject.filter = filter_count_;
  result.settings = *built_;
  result.backend = backend_;
  result.sat = sat_;
  result.message = failure_;
  result.comes_again = repeats_frame_;
  try {
    find(frame.picture.pixels, result);
    sort_by_place(result.faces);
    show_inside(frame.picture.pixels, result);
    if (built_->inspection.filtered) show_filtered(frame.picture.pixels, result);
  } catch (...) {
    result.faces.clear();
    result.message = reason_of(std::current_exception());
    result.comes_again = turn_to_cpu();
  }
  result.frame = std::move(frame);
  return result;
}

void Detection::find(View<const Bgr> frame, LiveResult& result) {
  const auto begin = std::chrono::steady_clock::now();
  const auto& names = built_->cascades;
  const auto outer = std::find(names.begin(), names.end(), built_->inside_of);
  if (outer != names.end() && !detectors_.empty())
    find_inside(frame, static_cast<std::size_t>(outer - names.begin()), result);
  else
    find_everywhere(frame, result);
  result.detect_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// All cascades at the same time, if the backend can do that.
void Detection::find_everywhere(View<const Bgr> frame, LiveResult& result) {
  for (FrameDetector& detector : detectors_) {
    detector.load(frame);
    detector.start();
  }
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    for (Face face : detectors_[i].finish()) {
      face.cascade = colour(i);
      result.faces.push_back(face);
    }
    add_numbers(detectors_[i], result);
  }
}

void Detection::find_inside(View<const Bgr> frame, std::size_t outer, LiveResult& result) {
  const std::vector<Face> faces = detectors_[outer].detect(frame);
  add_numbers(detectors_[outer], result);
  for (const Face& face : faces) {
    result.faces.push_back(face);
    result.faces.back().cascade = colour(outer);
    for (std::size_t i = 0; i < detectors_.size(); ++i) {
      if (i == outer) continue;
      for (Face part : detectors_[i].detect(frame.sub(face.box))) {
        part.box.x += face.box.x;
        part.box.y += face.box.y;
        part.cascade = colour(i);
        result.faces.push_back(part);
      }
      add_numbers(detectors_[i], result);
    }
  }
}

std::size_t Detection::colour(std::size_t cascade) const {
  return built_->colour_of(built_->cascades[cascade]);
}

void Detection::add_numbers(const FrameDetector& detector, LiveResult& result) const {
  result.windows += detector.window_count();
  const StepBytes bytes = least_bytes(detector.pyramid(), detector.cascade().kind, on_device_);
  const StepTimes floors = step_floors(bytes, speed_);
  for (std::size_t s = 0; s < step_names.size(); ++s) {
    result.times.ms[s] += detector.times().ms[s];
    result.bytes[s] += bytes[s];
    result.floors.ms[s] += floors.ms[s];
  }
}

void Detection::show_inside(View<const Bgr> frame, LiveResult& result) {
  if (detectors_.empty()) return;
  FrameDetector& detector = detectors_.front();
  const Inspection& inspection = built_->inspection;
  const bool searched_inside_others =
      built_->has(built_->inside_of) && built_->inside_of != built_->cascades.front();
  const bool shows_picture = inspection.picture && !inspection.filtered;
  if ((shows_picture || inspection.explains) && searched_inside_others) detector.detect(frame);
  result.level_count = static_cast<int>(detector.pyramid().levels.size());
  if (result.level_count == 0) return;
  if (shows_picture) {
    result.view = inspect(detector, inspection);
    result.view_is_frame = inspection.is_frame();
  }
  if (inspection.explains)
    result.tables.emplace(detector, first_cascade_,
                          std::clamp(inspection.level, 0, result.level_count - 1));
}

// Needs no detector: the grey image is the same, bit for bit, wherever it is made.
void Detection::show_filtered(View<const Bgr> frame, LiveResult& result) {
  if (!failure_.empty()) return;
  if (!filter_view_)
    filter_view_.emplace(on_device_ ? gpu::make_cuda_picture_filter(device_)
                                    : make_cpu_picture_filter());
  filter_view_->load(frame, built_->detect.equalize);
  result.filter = filter_view_->run(built_->filter);
  result.view = filter_view_->picture();
}

Detection::Compared Detection::compared() const {
  return {last_->source, without_sat(built_backend_)};
}

// The comparison has its own hold on the frame, so that it goes on while a video plays.
void Detection::begin_comparison() {
  comparing_.reset();
  compared_ = compared();
  Comparison begin;
  begin.on_device = on_device_;
  try {
    if (detectors_.empty()) throw UsageError(failure_.empty() ? "no cascade is chosen" : failure_);
    const ComparedFrame frame{find_cascade(built_->cascades.front()), built_->detect,
                              last_->picture, speed_};
    begin = plan_comparison(frame, on_device_);
    begin.frame = last_->name;
    begin.source = last_->source;
    if (begin.levels > 0)
      comparing_ = on_device_
                       ? ComparisonRun(begin, ids_of(facts_of(gpu::sat_algorithms())),
                                       measure_on_device(built_backend_, frame))
                       : ComparisonRun(begin, ids_of(cpu_sat_facts()), measure_on_cpu(frame));
  } catch (...) {  // the cascade's file may be gone by now
    begin.message = reason_of(std::current_exception());
  }
  show(comparing_ ? comparing_->comparison() : begin);
}

void Detection::continue_comparison() {
  if (compared() == compared_)
    comparing_->measure_next();
  else
    comparing_->stop(
        "the comparison ended early: the source, or where faces are detected, changed");
  show(comparing_->comparison());
  if (comparing_->is_over()) comparing_.reset();
}

void Detection::show(const Comparison& comparison) {
  {
    const std::scoped_lock lock(mutex_);
    comparison_ = std::make_shared<const Comparison>(comparison);
  }
  on_result_();
}

void Detection::record(const std::string& file, double frames_per_second) {
  recorder_.set(file, frames_per_second);
}

}  // namespace facesat::app

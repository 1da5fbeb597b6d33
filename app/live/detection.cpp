#include "app/live/detection.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cascades/cascade_store.hpp"

namespace facesat::app {

Detection::Detection(LiveSettings settings)
    : settings_(std::move(settings)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Detection::put(LiveFrame frame) {
  const std::scoped_lock lock(mutex_);
  dropped_ += newest_.has_value();
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

void Detection::run(const std::stop_token& stop) {
  while (true) {
    std::optional<LiveSettings> settings;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return newest_ || (settings_changed_ && last_); });
      if (stop.stop_requested()) return;
      if (std::exchange(settings_changed_, false)) settings = settings_;
      is_new_ = newest_.has_value();
      if (newest_) last_ = std::exchange(newest_, std::nullopt);
    }
    if (settings) rebuild(*settings);
    const bool is_new = std::exchange(is_new_, false);
    LiveResult result = detect(*last_);
    if (is_new) recorder_.add(result.frame.picture.pixels, result.faces);
    results_.put(std::move(result));
  }
}

void Detection::rebuild(const LiveSettings& settings) {
  inspection_ = settings.inspection;
  inside_ = settings.inside;
  detectors_.clear();
  failure_.clear();
  try {
    std::vector<std::shared_ptr<const Cascade>> cascades;
    for (const std::string& name : settings.cascades) cascades.push_back(find_cascade(name));
    const Backends backends(settings.backend, cascades);
    backend_ = backends.device_name();
    sat_ = backends.sat();
    for (const auto& cascade : cascades)
      detectors_.emplace_back(cascade, settings.detect, backends.make(0));
  } catch (const Error& error) {
    detectors_.clear();
    failure_ = error.what();
  }
}

LiveResult Detection::detect(LiveFrame frame) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  LiveResult result;
  result.backend = backend_;
  result.sat = sat_;
  result.message = failure_;
  try {
    if (inside_)
      find_inside(frame.picture.pixels, result);
    else
      find_everywhere(frame.picture.pixels, result);
    result.detect_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    inspect(result);
  } catch (const Error& error) {
    result.faces.clear();
    result.message = error.what();
    const std::scoped_lock lock(mutex_);
    if (settings_.backend.choice == BackendChoice::automatic) {  // the CPU takes over
      settings_.backend.choice = BackendChoice::cpu;
      settings_.backend.sat.clear();
      settings_changed_ = true;
    }
  }
  result.frame = std::move(frame);
  return result;
}

// All cascades at the same time, where the backend can.
void Detection::find_everywhere(View<const Bgr> frame, LiveResult& result) {
  for (Detector& detector : detectors_) {
    detector.load(frame);
    detector.start();
  }
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    for (const Face& face : detectors_[i].finish()) result.faces.push_back({face, i});
    add_numbers(detectors_[i], result);
  }
}

void Detection::find_inside(View<const Bgr> frame, LiveResult& result) {
  if (detectors_.empty()) return;
  const std::vector<Face> outer = detectors_.front().detect(frame);
  add_numbers(detectors_.front(), result);
  for (const Face& face : outer) {
    result.faces.push_back({face, 0});
    for (std::size_t i = 1; i < detectors_.size(); ++i) {
      for (Face part : detectors_[i].detect(frame.sub(face.box))) {
        part.box.x += face.box.x;
        part.box.y += face.box.y;
        result.faces.push_back({part, i});
      }
      add_numbers(detectors_[i], result);
    }
  }
}

void Detection::add_numbers(const Detector& detector, LiveResult& result) const {
  result.windows += detector.window_count();
  for (std::size_t s = 0; s < step_names.size(); ++s) result.times.ms[s] += detector.times().ms[s];
}

void Detection::inspect(LiveResult& result) {
  if (detectors_.empty() || detectors_.front().pyramid().levels.empty()) return;
  Detector& detector = detectors_.front();
  result.level_count = static_cast<int>(detector.pyramid().levels.size());
  if (!inspection_.picture) return;
  const int level = std::clamp(inspection_.level, 0, result.level_count - 1);
  result.view = coloured(detector.backend().snapshot(*inspection_.picture, level),
                         *inspection_.picture, detector.cascade().stages.size());
}

void Detection::record(const std::string& file, double frames_per_second) {
  recorder_.set(file, frames_per_second);
}
std::string Detection::recorder_message() const {
  return recorder_.message();
}

}  // namespace facesat::app

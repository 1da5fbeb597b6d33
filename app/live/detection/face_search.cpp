#include "app/live/detection/face_search.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "cascades/cascade_store.hpp"
#include "support/errors.hpp"

namespace facesat::app {

BackendOptions without_sat(BackendOptions options) {
  options.sat.clear();
  return options;
}

bool FaceSearch::use(const LiveSettings& settings) {
  const std::optional<LiveSettings> before = std::exchange(settings_, settings);
  if (!before || before->backend != settings.backend) device_failed_ = false;
  const BackendOptions machine = usable_backend();
  const bool same_machine = before && machine_ == machine;
  const bool same_device = before && without_sat(machine_) == without_sat(machine);
  const bool same_detectors =
      before && before->cascades == settings.cascades && before->detect == settings.detect;
  const bool same_search = same_detectors && before->inside_of == settings.inside_of;
  if (!same_machine || !same_search) ++settings_count_;
  if (!same_search || !same_device) ++any_sat_count_;
  if (!same_device) speed_ = {};
  machine_ = machine;
  if (same_machine && same_detectors) return true;
  try {
    make_detectors();
  } catch (...) {
    detectors_.clear();
    failure_ = reason_of(std::current_exception());
    return !turn_to_cpu();
  }
  return true;
}

void FaceSearch::make_detectors() {
  detectors_.clear();
  failure_.clear();
  Cascades cascades;
  for (const std::string& name : settings_->cascades) cascades.push_back(find_cascade(name));
  const Backends backends(machine_, cascades);
  backend_ = backends.device_name();
  sat_ = backends.sat();
  device_.reset();
  if (backends.on_gpu()) device_ = backends.devices().front().id;
  if (speed_.memory == 0) speed_ = device_ ? gpu::copy_speed(*device_) : host_copy_speed();
  first_cascade_ = cascades.empty() ? nullptr : cascades.front();
  detectors_ =
      facesat::make_detectors(cascades, settings_->detect, [&] { return backends.make(); });
}

bool FaceSearch::turn_to_cpu() {
  if (!device_ || machine_.choice != BackendChoice::automatic) return false;
  device_failed_ = true;
  return true;
}

// The settings stay as the user chose them when the CPU takes over.
BackendOptions FaceSearch::usable_backend() const {
  BackendOptions backend = settings_->backend;
  if (!device_failed_) return backend;
  backend.choice = BackendChoice::cpu;
  backend.sat.clear();
  return backend;
}

LiveResult FaceSearch::result_for(const CapturedFrame& frame) const {
  LiveResult result;
  result.subject = {frame.source, settings_count_, frame.picture.pixels.size};
  result.any_sat = result.subject;
  result.any_sat.settings = any_sat_count_;
  result.settings = *settings_;
  result.backend = backend_;
  result.sat = sat_;
  result.message = failure_;
  return result;
}

void FaceSearch::find(View<const Bgr> frame, LiveResult& result) {
  const auto begin = std::chrono::steady_clock::now();
  const auto& names = settings_->cascades;
  const auto outer = std::find(names.begin(), names.end(), settings_->inside_of);
  if (outer != names.end() && has_detectors())
    find_inside(frame, static_cast<std::size_t>(outer - names.begin()), result);
  else
    find_everywhere(frame, result);
  result.detect_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// All cascades at the same time, if the backend can do that.
void FaceSearch::find_everywhere(View<const Bgr> frame, LiveResult& result) {
  facesat::Detection found =
      search(detectors_, [frame](FrameDetector& detector) { detector.load(frame); });
  for (Face& face : found.faces) face.cascade = colour(face.cascade);
  result.faces = std::move(found.faces);
  result.windows = found.windows;
  result.times = found.times;
  for (const FrameDetector& detector : detectors_) add_bytes(detector, result);
}

void FaceSearch::find_inside(View<const Bgr> frame, std::size_t outer, LiveResult& result) {
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

std::size_t FaceSearch::colour(std::size_t cascade) const {
  return settings_->colour_of(settings_->cascades[cascade]);
}

void FaceSearch::add_numbers(const FrameDetector& detector, LiveResult& result) const {
  result.windows += detector.window_count();
  for (std::size_t s = 0; s < step_names.size(); ++s) result.times.ms[s] += detector.times().ms[s];
  add_bytes(detector, result);
}

void FaceSearch::add_bytes(const FrameDetector& detector, LiveResult& result) const {
  const StepBytes bytes =
      least_bytes(detector.pyramid(), detector.cascade().kind, device_.has_value());
  const StepTimes floors = step_floors(bytes, speed_);
  for (std::size_t s = 0; s < step_names.size(); ++s) {
    result.bytes[s] += bytes[s];
    result.floors.ms[s] += floors.ms[s];
  }
}

void FaceSearch::show_inside(View<const Bgr> frame, LiveResult& result) {
  if (!has_detectors()) return;
  FrameDetector& detector = detectors_.front();
  const Inspection& inspection = settings_->inspection;
  const bool searched_inside_others =
      settings_->has(settings_->inside_of) && settings_->inside_of != settings_->cascades.front();
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

}  // namespace facesat::app

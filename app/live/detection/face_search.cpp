#include "app/live/detection/face_search.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include <tbb/parallel_for.h>

#include "cascades/cascade_store.hpp"
#include "support/errors.hpp"

namespace facesat::app {

StepBytes least_bytes(const Pyramid& pyramid, FeatureKind kind, bool on_device) {
  const auto image = static_cast<double>(pyramid.image.area());
  double levels = 0;
  for (const Level& level : pyramid.levels) levels += static_cast<double>(level.size.area());
  constexpr double colour = 3, gray = 1;  // bytes per pixel
  const double tables = traits_of(kind).squares ? 8 : 4;
  const auto bytes_of = [&](Step step) {
    switch (step) {
      case Step::upload:
        return on_device ? colour * image : 0;
      case Step::gray:
        return (colour + gray) * image;
      case Step::resize:
        return gray * (image + levels);
      case Step::sat:
        return (gray + tables) * levels;
      case Step::evaluate:
        return tables * levels;
      default:
        return 0.0;
    }
  };
  StepBytes bytes{};
  for (std::size_t s = 0; s < bytes.size(); ++s) bytes[s] = bytes_of(static_cast<Step>(s));
  return bytes;
}

CopySpeed host_copy_speed() {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t part = 1 << 20, parts = 64;  // 64 MiB in all, more than most caches hold
  const std::vector<char> from(part * parts, 1);
  std::vector<char> to(part * parts);
  double best = 0;
  for (int run = 0; run < 4; ++run) {
    const Clock::time_point begin = Clock::now();
    tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t i) {
      std::memcpy(to.data() + i * part, from.data() + i * part, part);
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    // Each byte is read and written, hence 2.
    best = std::max(best, 2 * static_cast<double>(part * parts) / seconds);
  }
  return {best, 0};  // there is no upload
}

StepTimes step_floors(const StepBytes& bytes, const CopySpeed& speed) {
  StepTimes floors;
  for (std::size_t s = 0; s < bytes.size(); ++s) {
    const double fastest = static_cast<Step>(s) == Step::upload ? speed.upload : speed.memory;
    if (fastest > 0) floors.ms[s] = bytes[s] / fastest * 1000;
  }
  return floors;
}

BackendOptions without_sat(BackendOptions options) {
  options.sat.clear();
  return options;
}

// The part of the options that each detector knows of.
static DetectOptions in_whole_frame(DetectOptions options) {
  options.inside_of.clear();
  options.only_with_inner = false;
  return options;
}

bool FaceSearch::use(const LiveSettings& settings) {
  const std::optional<LiveSettings> before = std::exchange(settings_, settings);
  if (!before || before->backend != settings.backend) device_failed_ = false;
  const BackendOptions machine = usable_backend();
  const bool same_machine = before && machine_ == machine;
  const bool same_device = before && without_sat(machine_) == without_sat(machine);
  const bool same_detectors = before && !std::exchange(cascades_changed_, false) &&
                              before->cascades == settings.cascades &&
                              in_whole_frame(before->detect) == in_whole_frame(settings.detect);
  const bool same_search = same_detectors && before->detect == settings.detect;
  if (!same_machine || !same_search) ++settings_count_;
  if (!same_search || !same_device) ++any_sat_count_;
  if (!same_device) speed_ = {};
  machine_ = machine;
  if (same_machine && same_detectors) {
    measure_kernels();
    return true;
  }
  try {
    make_detectors();
    measure_kernels();
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
  cascades_.clear();
  for (const std::string& name : settings_->cascades) cascades_.push_back(find_cascade(name));
  backends_ = Backends(machine_, cascades_);
  if (speed_.memory == 0) speed_ = device() ? gpu::copy_speed(*device()) : host_copy_speed();
  decode_jpegs_there();
  detectors_ =
      facesat::make_detectors(cascades_, settings_->detect, [this] { return backends_->make(); });
}

// Frames are decoded where they are searched.
void FaceSearch::decode_jpegs_there() {
  if (device_of_jpegs_ == device()) return;
  device_of_jpegs_ = device();
  jpegs_.reset();
  if (device()) jpegs_.emplace(*device());
}

void FaceSearch::measure_kernels() {
  for (FrameDetector& detector : detectors_) detector.backend().measure_kernels(settings_->kernels);
}

std::optional<int> FaceSearch::device() const {
  return backends_ && backends_->on_gpu() ? std::optional(backends_->devices().front().id)
                                          : std::nullopt;
}

bool FaceSearch::turn_to_cpu() {
  if (!device() || machine_.choice != BackendChoice::automatic) return false;
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
  if (backends_) {
    result.backend = backends_->device_name();
    result.sat = backends_->sat();
  }
  result.message = failure_;
  return result;
}

void FaceSearch::find(View<const Bgr> frame, LiveResult& result) {
  const auto begin = std::chrono::steady_clock::now();
  const auto& names = settings_->cascades;
  const auto outer = std::find(names.begin(), names.end(), settings_->detect.inside_of);
  const auto search_part = [&](CascadeRange range, const Rect& part) {
    return find_with(range, frame.sub(part), part, result);
  };
  const std::size_t count = detectors_.size();
  const facesat::Detection found =
      outer != names.end() && count > 0
          ? search_inside(static_cast<std::size_t>(outer - names.begin()),
                          settings_->detect.only_with_inner, count, frame.size, search_part)
          : search_part({0, count}, {0, 0, frame.size.width, frame.size.height});
  for (Face face : found.faces) {
    face.cascade = settings_->colour_of(names[face.cascade]);
    result.faces.push_back(face);
  }
  result.windows = found.windows;
  result.times.ms = found.times.ms;
  result.detect_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// In `part` of the frame, which `pixels` shows. Adds to the result what is not in a Detection.
facesat::Detection FaceSearch::find_with(CascadeRange range, View<const Bgr> pixels,
                                         const Rect& part, LiveResult& result) {
  const facesat::Detection found =
      search(detectors_, range, part, [&](FrameDetector& detector) { detector.load(pixels); });
  for (FrameDetector& detector : std::span(detectors_).subspan(range.first, range.count)) {
    add_bytes(detector, result);
    if (detector.pyramid().levels.empty()) continue;
    std::ranges::move(detector.backend().kernels(), std::back_inserter(result.kernels));
    for (const Level& level : detector.pyramid().levels) result.evaluated += level.grid.area();
  }
  return found;
}

void FaceSearch::add_bytes(const FrameDetector& detector, LiveResult& result) const {
  const StepBytes bytes =
      least_bytes(detector.pyramid(), detector.cascade().kind, device().has_value());
  const StepTimes floors = step_floors(bytes, speed_);
  for (std::size_t s = 0; s < step_names.size(); ++s) {
    result.bytes[s] += bytes[s];
    result.floors.ms[s] += floors.ms[s];
  }
}

void FaceSearch::show_inside(View<const Bgr> frame, LiveResult& result) {
  if (!has_detectors()) return;
  Inspection inspection = settings_->inspection;
  const auto& names = settings_->cascades;
  const auto named = std::find(names.begin(), names.end(), inspection.cascade);
  const std::size_t inspected =
      named == names.end() ? 0 : static_cast<std::size_t>(named - names.begin());
  FrameDetector& detector = detectors_[inspected];
  const bool searched_inside_others = settings_->has(settings_->detect.inside_of) &&
                                      settings_->detect.inside_of != names[inspected];
  const bool shows_picture = inspection.picture && !inspection.filtered;
  if ((shows_picture || inspection.explains) && searched_inside_others) detector.detect(frame);
  result.level_count = static_cast<int>(detector.pyramid().levels.size());
  if (result.level_count == 0) return;
  inspection.level = std::clamp(inspection.level, 0, result.level_count - 1);
  if (inspection.explains && inspection.box) {
    result.like_box = window_like(detector, *inspection.box);
    inspection.level = result.like_box->level;
  }
  if (shows_picture) {
    result.view = inspect(detector, inspection);
    result.view_is_frame = inspection.is_frame();
  }
  if (inspection.explains) result.tables.emplace(detector, cascades_[inspected], inspection.level);
}

}  // namespace facesat::app

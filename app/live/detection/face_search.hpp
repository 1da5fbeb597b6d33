// Finds the faces in frames: on a device, or on the CPU if there is none or if it has failed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "app/common/device_jpegs.hpp"
#include "app/live/detection/live_result.hpp"
#include "core/pyramid.hpp"
#include "kernels/device/gpu_info.hpp"
#include "library/detect/detector_set.hpp"

namespace facesat::app {

// How fast this machine copies memory bounds the speed of detection: no step can be faster than a
// plain copy of the bytes that it must at least read and write.

// The minimum number of bytes that each step of detection in a frame reads and writes; 0 if no
// bound is known. Evaluation is counted as reading the integral images once, although its node
// tests read each element many times. Haar cascades need the squared integral image, too.
StepBytes least_bytes(const Pyramid& pyramid, FeatureKind kind, bool on_device);

using gpu::CopySpeed;

// Measures the copy speed of host memory, with all threads. Each call measures again, which takes
// some hundredths of a second.
CopySpeed host_copy_speed();

// The time that each step would take if it only copied its bytes; 0: unknown.
StepTimes step_floors(const StepBytes& bytes, const CopySpeed& speed);

// The options without the SAT algorithm: with others, faces are detected on another machine.
BackendOptions without_sat(BackendOptions options);

// Belongs to one thread at a time.
class FaceSearch {
 public:
  // The settings for the next frames. Detectors are made anew only if these require others; an
  // error becomes the message of the next results. Returns false if it has made the CPU take over,
  // with the next call.
  bool use(const LiveSettings& settings);

  // An empty result for this frame: its subject, and where and how the frame is searched.
  LiveResult result_for(const CapturedFrame& frame) const;
  // Adds the faces of the frame, and the times and numbers of finding them. Throws what detectors
  // throw.
  void find(View<const Bgr> frame, LiveResult& result);
  // Adds the intermediate picture and the tables that the settings ask for. The frame must have
  // been searched last.
  void show_inside(View<const Bgr> frame, LiveResult& result);

  // To be called after a failure: from the next use() on, the CPU searches, until another backend
  // is chosen. Returns false if no device was used, or if the user chose it explicitly.
  bool turn_to_cpu();

  // What use() was called with last, except that the CPU may have taken over.
  const LiveSettings& settings() const { return *settings_; }
  const BackendOptions& machine() const { return machine_; }
  // The number of the device; nullopt: the CPU.
  std::optional<int> device() const;
  const CopySpeed& speed() const { return speed_; }
  // Why there are no detectors, if the settings ask for some.
  const std::string& failure() const { return failure_; }
  bool has_detectors() const { return !detectors_.empty(); }

  // The next call of use() reads the files of cascades anew.
  void forget_cascades() { cascades_changed_ = true; }

 private:
  void make_detectors();
  void decode_jpegs_there();
  void measure_kernels();  // or no longer
  BackendOptions usable_backend() const;
  facesat::Detection find_with(CascadeRange range, View<const Bgr> pixels, const Rect& part,
                               LiveResult& result);
  void add_bytes(const FrameDetector& detector, LiveResult& result) const;

  DetectorSet detectors_;
  Cascades cascades_;                     // of the detectors
  std::optional<LiveSettings> settings_;  // what detectors_ are made from
  BackendOptions machine_;                // the same, after a failure of the device
  std::optional<Backends> backends_;      // nullopt: none were chosen yet
  std::optional<JpegsOnDevice> jpegs_;    // on the device that searches
  std::optional<int> device_of_jpegs_;
  CopySpeed speed_;
  bool cascades_changed_ = false;
  bool device_failed_ = false;  // the CPU has taken over, until another backend is chosen
  std::string failure_;
  std::uint64_t settings_count_ = 0;  // changes of what detection depends on
  std::uint64_t any_sat_count_ = 0;   // the same, but not changes of the SAT algorithm
};

}  // namespace facesat::app

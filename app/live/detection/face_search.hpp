// Finds the faces in frames: on a device, or on the CPU if there is none or if it has failed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/live/detection/copy_speed.hpp"
#include "app/live/detection/live_result.hpp"
#include "library/detect/detector_set.hpp"

namespace facesat::app {

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
  std::optional<int> device() const { return device_; }
  const CopySpeed& speed() const { return speed_; }
  // Why there are no detectors, if the settings ask for some.
  const std::string& failure() const { return failure_; }
  bool has_detectors() const { return !detectors_.empty(); }

 private:
  void make_detectors();
  BackendOptions usable_backend() const;
  void find_everywhere(View<const Bgr> frame, LiveResult& result);
  void find_inside(View<const Bgr> frame, std::size_t outer, LiveResult& result);
  std::size_t colour(std::size_t cascade) const;
  void add_numbers(const FrameDetector& detector, LiveResult& result) const;
  void add_bytes(const FrameDetector& detector, LiveResult& result) const;

  DetectorSet detectors_;
  std::shared_ptr<const Cascade> first_cascade_;  // of the first detector
  std::optional<LiveSettings> settings_;          // what detectors_ are made from
  BackendOptions machine_;                        // the same, after a failure of the device
  std::optional<int> device_;
  CopySpeed speed_;
  bool device_failed_ = false;  // the CPU has taken over, until another backend is chosen
  std::string backend_, sat_, failure_;
  std::uint64_t settings_count_ = 0;  // changes of what detection depends on
  std::uint64_t any_sat_count_ = 0;   // the same, but not changes of the SAT algorithm
};

}  // namespace facesat::app

// Lends devices to images: the least busy one first, each to a few images at a time.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "library/detect/backends.hpp"
#include "library/detect/detector_set.hpp"

namespace facesat {

// May be used by any number of threads at the same time.
class DeviceTurns {
 public:
  // Enough for some images to be uploaded, or grouped on the host, while others are evaluated.
  static constexpr int images_per_device = 8;

  using MakeSet = std::function<std::unique_ptr<DetectorSet>(const Backends::Device&)>;
  DeviceTurns(const std::vector<Backends::Device>& devices, MakeSet make);

  // The right to search an image on a device; ends with its lifetime.
  class Turn {
   public:
    Turn(Turn&& other) noexcept
        : turns_(std::exchange(other.turns_, nullptr)),
          device_(other.device_),
          set_(std::move(other.set_)),
          decoder_(std::move(other.decoder_)) {}
    ~Turn();

    std::size_t device() const { return device_; }  // its place in the list of devices
    // Made anew if no set is idle. Throws MemoryError, DeviceError.
    DetectorSet& detectors();
    gpu::JpegDecoder& jpeg_decoder();
    // The detectors and the decoder may be used again.
    void keep();

   private:
    friend DeviceTurns;
    Turn(DeviceTurns& turns, std::size_t device, std::unique_ptr<DetectorSet> set)
        : turns_(&turns), device_(device), set_(std::move(set)) {}

    DeviceTurns* turns_;
    std::size_t device_;
    std::unique_ptr<DetectorSet> set_;
    std::unique_ptr<gpu::JpegDecoder> decoder_;
  };

  // Sleeps while all devices are busy. nullopt if every device has failed. Throws Stopped.
  std::optional<Turn> take(Size image, const ShouldStop& should_stop);

  // From now on the device gets no images. Returns the sentence that says so, or nothing if it has
  // failed before.
  std::optional<std::string> fail(std::size_t device, const std::string& reason);
  // Are there devices, besides this one, that have not failed?
  bool has_others(std::size_t device);
  // The sentences that fail() has returned.
  std::vector<std::string> failures();

  // Is there a device that has not failed?
  bool has_any();

  // Frees the memory of the device's idle detectors and decoders.
  void drop_idle(std::size_t device);

 private:
  struct Device {
    Backends::Device backend;
    IdleSets idle{};
    std::vector<std::unique_ptr<gpu::JpegDecoder>> idle_decoders{};
    int images = 0;  // being searched
    bool has_failed = false;
  };

  // Null if all devices that have not failed are busy.
  Device* least_busy();
  bool all_have_failed() const;

  MakeSet make_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Device> devices_;
  std::vector<std::string> failures_;
};

}  // namespace facesat

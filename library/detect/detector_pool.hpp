// Detectors for several images at once, within the memory limits of the machine.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "facesat.hpp"
#include "kernels/jpeg/jpeg_stream.hpp"
#include "library/detect/backend_start.hpp"
#include "library/detect/detector_set.hpp"
#include "library/detect/device_turns.hpp"

namespace facesat {

// Lets work begin only when it fits into a budget of bytes together with all work under way. Work
// larger than the whole budget runs alone.
class MemoryGate {
 public:
  explicit MemoryGate(std::uint64_t budget) : budget_(budget) {}

  // Holds `bytes` of the budget for its lifetime; the constructor waits until they are free.
  class Reservation {
   public:
    Reservation(MemoryGate& gate, std::uint64_t bytes);
    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

   private:
    MemoryGate& gate_;
    std::uint64_t bytes_;
  };

 private:
  std::uint64_t budget_, used_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
};

// A JPEG that devices decode, so that its pixels need not be in host memory.
struct EncodedImage {
  const gpu::JpegStream& jpeg;
  bool luma = false;    // search its luma instead of its colours
  int orientation = 0;  // EXIF; 0: unknown. The image is turned upright.
  // Decodes it where no device does: called at most once, and what it throws is the caller's.
  std::function<ImageView()> decode;
  // Called with the image that a device has decoded and searched, before its memory serves others;
  // not after decode(). If it throws MemoryError, the CPU decodes and searches the image.
  std::function<void(const ImageView&)> keep = [](const ImageView&) {};
};

// Any number of threads may call detect() at the same time; each borrows a set of detectors, one
// per cascade. On devices, a few images are searched at a time, and the others wait; on the CPU, as
// many as memory allows.
class __attribute__((visibility("hidden"))) Detector::Pool {
 public:
  // `choose` chooses the backends: at once, or in the background after a delay; see BackendStart.
  // Throws ArgumentError for options that cannot be used, and what `choose` throws.
  Pool(Cascades cascades, const DetectOptions& options, const BackendStart::Choose& choose,
       const std::optional<BackendStart::Delay>& delay, Notify notify);
  ~Pool();

  // As Detector::detect, which has checked the image.
  Detection detect(const ImageView& image, const ShouldStop& should_stop);
  // An image that devices decode, if there are some that are ready for it.
  Detection detect_encoded(const EncodedImage& image, const ShouldStop& should_stop);
  bool decodes_jpegs();
  // Are devices in use, or will they perhaps be, once they have started?
  bool may_use_devices() const;

  // Waits until they are chosen.
  const Backends& backends() const { return start_.wait(); }
  // As Detector::announce.
  void announce();
  // The sentences on devices that have failed.
  std::vector<std::string> failures();

 private:
  std::unique_ptr<DetectorSet> make_set(
      const std::function<std::unique_ptr<Backend>()>& make) const;
  // `image` is a HostImage, or the view of an image on a device.
  template <class AnyImage>
  Detection run(DetectorSet& detectors, const AnyImage& image, Size size,
                const ShouldStop& should_stop) const;
  // Null if there are none, or as long as they are starting.
  DeviceTurns* devices();
  Detection detect_on_cpu(const ImageView& image, const ShouldStop& should_stop);
  // Calls search_on(turn), again on another device after a failure. nullopt: what that returns, or
  // no device is left.
  template <class Search>
  std::optional<Detection> on_a_device(DeviceTurns& devices, Size size,
                                       const ShouldStop& should_stop, const Search& search_on);
  // nullopt: no device can do it, but the CPU may.
  std::optional<Detection> detect_on_device(DeviceTurns& devices, const ImageView& image,
                                            const ShouldStop& should_stop);
  std::optional<Detection> decode_on_device(DeviceTurns& devices, const EncodedImage& image,
                                            const ShouldStop& should_stop);
  void notify_once(std::atomic<bool>& notified, const std::string& sentence);

  Cascades cascades_;
  DetectOptions options_;
  std::optional<std::size_t> outer_;  // the index of the cascade that others search inside of
  Notify notify_;
  std::once_flag devices_made_;
  std::optional<DeviceTurns> devices_;
  MemoryGate gate_;  // of the CPU
  std::mutex mutex_;
  IdleSets idle_;  // on the CPU
  std::atomic<bool> notified_of_memory_ = false;
  BackendStart start_;  // destroyed first: announcements use the rest
};

}  // namespace facesat

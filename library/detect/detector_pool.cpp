#include "library/detect/detector_pool.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "core/memory.hpp"
#include "core/orientation.hpp"
#include "kernels/cuda_backend.hpp"
#include "library/detect/host_image.hpp"

namespace facesat {
namespace {

// A set on the CPU is not kept after an image whose grey copies take more than this: making a new
// one costs little compared with such an image, and the gate does not count idle ones.
constexpr std::uint64_t kept_bytes = 64 << 20;

// The grey copy that each detector makes. (The pyramid's levels and their integral images exist
// only in parts, in the memory of threads.)
std::uint64_t gray_bytes(const ImageView& image, std::size_t cascades) {
  return image.size.area() * cascades;
}

// A copy of at most 7 bytes per pixel: 4 of an image from a device, and 3 of its BGR form
// (HostImage).
std::uint64_t copied_bytes(const ImageView& image) {
  const bool is_viewed_in_place = !image.on_device && image.format != PixelFormat::bgra;
  return is_viewed_in_place ? 0 : 7 * image.size.area();
}

DetectOptions checked(const DetectOptions& options) {
  check(options);
  return options;
}

Cascades usable(Cascades cascades) {
  if (cascades.empty()) throw ArgumentError("a detector needs at least one cascade");
  if (std::find(cascades.begin(), cascades.end(), nullptr) != cascades.end())
    throw ArgumentError("a cascade of a detector must not be null");
  return cascades;
}

// The index of DetectOptions::inside_of.
std::optional<std::size_t> outer_of(const Cascades& cascades, const DetectOptions& options) {
  const std::string& name = options.inside_of;
  if (name.empty() && options.only_with_inner)
    throw ArgumentError(
        "to leave out faces with nothing inside, name the cascade of these faces (inside_of)");
  if (name.empty()) return std::nullopt;
  const auto has_name = [&](const auto& cascade) { return cascade->name == name; };
  const auto found = std::ranges::find_if(cascades, has_name);
  if (found == cascades.end())
    throw ArgumentError(
        fmt::format("to search inside of {}, it must be one of the cascades", name));
  if (std::ranges::count_if(cascades, has_name) > 1)
    throw ArgumentError(fmt::format("more than one of the cascades is called {}", name));
  if (cascades.size() == 1)
    throw ArgumentError(fmt::format("no other cascade is there to search inside of {}", name));
  return static_cast<std::size_t>(found - cascades.begin());
}

void load(FrameDetector& detector, const HostImage& image, const Rect& part) {
  std::visit([&](auto pixels) { detector.load(pixels.sub(part)); }, image.pixels());
}

// An image on a device.
void load(FrameDetector& detector, ImageView image, const Rect& part) {
  image.pixels = static_cast<const std::byte*>(image.pixels) + part.y * image.pitch +
                 part.x * bytes_per_pixel(image.format);
  image.size = {part.width, part.height};
  detector.load(image);
}

}  // namespace

MemoryGate::Reservation::Reservation(MemoryGate& gate, std::uint64_t bytes)
    : gate_(gate), bytes_(std::min(bytes, gate.budget_)) {
  std::unique_lock lock(gate_.mutex_);
  gate_.freed_.wait(lock, [this] { return gate_.used_ + bytes_ <= gate_.budget_; });
  gate_.used_ += bytes_;
}

MemoryGate::Reservation::~Reservation() {
  {
    const std::scoped_lock lock(gate_.mutex_);
    gate_.used_ -= bytes_;
  }
  gate_.freed_.notify_all();
}

Detector::Pool::Pool(Cascades cascades, const DetectOptions& options,
                     const BackendStart::Choose& choose,
                     const std::optional<BackendStart::Delay>& delay, Notify notify)
    : cascades_(usable(std::move(cascades))),
      options_(checked(options)),
      outer_(outer_of(cascades_, options_)),
      notify_(std::move(notify)),
      gate_(available_memory() / 2),
      start_(delay ? BackendStart(choose, *delay) : BackendStart(choose)) {}

Detector::Pool::~Pool() {
  if (!devices_) return;
  const gpu::KeptDevice kept;  // freeing memory changes the caller's current device
  devices_.reset();
}

std::unique_ptr<DetectorSet> Detector::Pool::make_set(
    const std::function<std::unique_ptr<Backend>()>& make) const {
  return std::make_unique<DetectorSet>(make_detectors(cascades_, options_, make));
}

DeviceTurns* Detector::Pool::devices() {
  const Backends* const backends = start_.chosen();
  if (!backends || !backends->on_gpu()) return nullptr;
  std::call_once(devices_made_, [&] {
    devices_.emplace(backends->devices(),
                     [this](const Backends::Device& device) { return make_set(device.make); });
  });
  return &*devices_;
}

void Detector::Pool::announce() {
  start_.announce_to([this](const std::string& remark) {
    if (notify_ && !remark.empty()) notify_(remark);
  });
}

std::vector<std::string> Detector::Pool::failures() {
  DeviceTurns* const all = devices();
  return all ? all->failures() : std::vector<std::string>();
}

template <class AnyImage>
Detection Detector::Pool::run(DetectorSet& detectors, const AnyImage& image, Size size,
                              const ShouldStop& should_stop) const {
  const auto search_part = [&](CascadeRange range, const Rect& part) {
    return search(detectors, range, part, [&](FrameDetector& detector) {
      detector.stop_when(should_stop);
      load(detector, image, part);
    });
  };
  if (outer_)
    return search_inside(*outer_, options_.only_with_inner, detectors.size(), size, search_part);
  return search_part({0, detectors.size()}, {0, 0, size.width, size.height});
}

Detection Detector::Pool::detect(const ImageView& image, const ShouldStop& should_stop) {
  start_.count_image();
  if (image.on_device) start_.wait();
  if (DeviceTurns* const all = devices())
    if (std::optional<Detection> found = detect_on_device(*all, image, should_stop))
      return std::move(*found);
  return detect_on_cpu(image, should_stop);
}

Detection Detector::Pool::detect_on_cpu(const ImageView& image, const ShouldStop& should_stop) {
  const std::uint64_t gray = gray_bytes(image, cascades_.size());
  const MemoryGate::Reservation reservation(gate_, gray + copied_bytes(image));
  const HostImage host(image);
  std::unique_ptr<DetectorSet> detectors;
  {
    const std::scoped_lock lock(mutex_);
    detectors = idle_.take(image.size);
  }
  if (!detectors) detectors = make_set(make_cpu_backend);
  Detection found;
  // Isolated: a thread that waits for its part of this image must not start on another image, which
  // could wait for the memory that this one holds.
  tbb::this_task_arena::isolate([&] { found = run(*detectors, host, image.size, should_stop); });
  if (gray <= kept_bytes) {
    const std::scoped_lock lock(mutex_);
    idle_.give_back(std::move(detectors));
  }
  return found;
}

template <class Search>
std::optional<Detection> Detector::Pool::on_a_device(DeviceTurns& devices, Size size,
                                                     const ShouldStop& should_stop,
                                                     const Search& search_on) {
  const gpu::KeptDevice kept;
  bool has_dropped_idle = false;
  while (std::optional<DeviceTurns::Turn> turn = devices.take(size, should_stop)) {
    try {
      std::optional<Detection> found;
      // Isolated, as on the CPU: the other image could wait for the turn that this one has.
      tbb::this_task_arena::isolate([&] { found = search_on(*turn); });
      turn->keep();
      if (found) found->on_gpu = true;
      return found;
    } catch (const MemoryError&) {
      if (std::exchange(has_dropped_idle, true)) throw;
      devices.drop_idle(turn->device());
    } catch (const DeviceError& error) {
      if (!backends().may_fall_back() && !devices.has_others(turn->device())) throw;
      const std::optional<std::string> sentence = devices.fail(turn->device(), error.what());
      if (sentence && notify_) notify_(*sentence);
    }
  }
  return std::nullopt;
}

std::optional<Detection> Detector::Pool::detect_on_device(DeviceTurns& devices,
                                                          const ImageView& image,
                                                          const ShouldStop& should_stop) {
  const bool may_fall_back = backends().may_fall_back();
  try {
    std::optional<Detection> found =
        on_a_device(devices, image.size, should_stop, [&](DeviceTurns::Turn& turn) {
          return image.on_device ? run(turn.detectors(), image, image.size, should_stop)
                                 : run(turn.detectors(), HostImage(image), image.size, should_stop);
        });
    if (found) return found;
  } catch (const MemoryError& error) {
    if (!may_fall_back) throw;
    notify_once(notified_of_memory_,
                fmt::format("{}; such pictures are detected on the CPU", error.what()));
    return std::nullopt;
  }
  if (!may_fall_back) throw DeviceError("all devices have failed");
  return std::nullopt;
}

// A device with too little memory for decoding may have enough for the decoded image.
std::optional<Detection> Detector::Pool::decode_on_device(DeviceTurns& devices,
                                                          const EncodedImage& image,
                                                          const ShouldStop& should_stop) {
  const Size size = upright_size(image.jpeg.header.size, image.orientation);
  try {
    return on_a_device(
        devices, size, should_stop, [&](DeviceTurns::Turn& turn) -> std::optional<Detection> {
          // In the stream of the detector, because streams share a few queues of the device, in
          // which those of other pictures would wait for each other. Several detectors work at the
          // same time; none of them must wait for the work of another.
          DetectorSet& detectors = turn.detectors();
          gpu::JpegDecoder& decoder = turn.jpeg_decoder();
          const ImageView decoded = decoder.decode(
              image.jpeg, image.luma, image.orientation,
              detectors.size() == 1 ? detectors.front().backend().stream() : nullptr);
          Detection found = run(detectors, decoded, size, should_stop);
          if (decoder.has_failed()) return std::nullopt;
          image.keep(decoded);
          return found;
        });
  } catch (const MemoryError&) {
    return std::nullopt;
  }
}

Detection Detector::Pool::detect_encoded(const EncodedImage& image, const ShouldStop& should_stop) {
  if (DeviceTurns* const all = devices())
    if (std::optional<Detection> found = decode_on_device(*all, image, should_stop))
      return std::move(*found);
  return detect(image.decode(), should_stop);
}

bool Detector::Pool::may_use_devices() const {
  const Backends* const backends = start_.chosen();
  return !backends || backends->on_gpu();
}

bool Detector::Pool::decodes_jpegs() {
  DeviceTurns* const all = devices();
  return all && all->has_any();
}

void Detector::Pool::notify_once(std::atomic<bool>& notified, const std::string& sentence) {
  if (notify_ && !notified.exchange(true)) notify_(sentence);
}

}  // namespace facesat

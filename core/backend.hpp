// The one interface that every backend implements: a frame in, windows out, and every intermediate
// picture for tests and debug views. A backend object holds one frame in flight; use several
// objects for several frames. Windows and pictures are the same, bit for bit, whichever backend
// made them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cascade.hpp"
#include "core/grouping.hpp"
#include "core/image.hpp"
#include "core/pyramid.hpp"
#include "core/stop.hpp"

namespace facesat {

// The pictures that snapshot() can return. All but `gray` belong to one level of the pyramid.
enum class Snapshot {
  gray,         // the grey image that levels are made from (equalised if that is on)
  level,        // the resized image
  sum,          // its integral image (inclusive summed area table), modulo 2^32
  squared_sum,  // the squared integral image
  tilted_sum,   // the tilted integral image; empty for cascades without tilted features
  depth,        // for every grid position: how many stages it passes
};

// The time of one launch on a device, from the end of the one before: of a kernel, by the name of
// its function, or of a copy or fill of memory.
struct KernelTime {
  Step step;
  std::string name;
  double ms;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Prepares for frames of size pyramid.image. The backend may keep `cascade`, and shares its
  // ownership while it does. `pyramid` is borrowed until the next call of prepare() and must not
  // change. Throws MemoryError; this and all other methods may throw DeviceError.
  virtual void prepare(std::shared_ptr<const Cascade> cascade, const Pyramid& pyramid,
                       const DetectOptions& options) = 0;

  // From the next call on, running work polls `should_stop`, and throws Stopped once it returns
  // true; the next frame can then be loaded as usual. The windows of a stopped frame are lost:
  // there are none, or those of an earlier frame. Must not be called while work is running.
  // The CPU backend polls continually. The CUDA backend polls only before it launches a frame,
  // before it waits for one, and while it groups windows.
  virtual void stop_when(ShouldStop should_stop) = 0;

  // Takes a frame of the prepared size: colour or grey. It may be overwritten after the call, or,
  // if it is in page-locked memory (see core/frame_memory.hpp), once collect() has returned.
  virtual void load(View<const Bgr> frame) = 0;
  virtual void load(View<const Rgb> frame) = 0;
  virtual void load(View<const std::uint8_t> gray) = 0;
  // A frame in the memory of a CUDA device. It may be overwritten once collect() has returned.
  // Throws ArgumentError if the backend cannot read it, as the CPU's.
  virtual void load(const ImageView&) {
    throw ArgumentError("the CPU cannot read an image in the memory of a device");
  }

  // Starts the detection of windows in the frame loaded last: levels, integral images, evaluation.
  // May be called again for the same frame. May return before the work is done.
  virtual void run() = 0;

  // Waits for run() and returns the number of windows found.
  virtual std::size_t collect() = 0;

  // The windows last collected, ordered by level, y, x. Valid until the next run() or prepare().
  // The first call after collect() may wait for a copy.
  virtual std::span<const Window> windows() = 0;

  // Groups windows() as group_faces() does with DetectOptions::min_neighbors;
  // boxes may reach beyond the image.
  virtual std::vector<Face> group() = 0;

  // An intermediate picture of the frame for which run() was last called, widened to 32 bits. For
  // tests and debug views.
  virtual Image<std::uint32_t> snapshot(Snapshot picture, int level) = 0;

  // Times of the frame for which collect() was last called. Steps of a frame may overlap; each is
  // measured on its own.
  virtual StepTimes times() const = 0;

  // Whether the kernels within each step are measured from the next run() on, which costs some
  // microseconds per kernel. Must not be called while work is running.
  virtual void measure_kernels(bool) {}
  // Of the frame for which collect() was last called, in the order of launches. Empty on the CPU,
  // for the first frame of a size, for a frame with more windows than expected, and if steps are
  // not measured.
  virtual std::vector<KernelTime> kernels() const { return {}; }

  // The CUDA stream of all its work; null on the CPU. A frame that is made in this stream is read
  // without waiting for another one.
  virtual void* stream() const { return nullptr; }
};

// The CPU backend: oneTBB in the caller's task arena.
std::unique_ptr<Backend> make_cpu_backend();

// Adds its own lifetime to `milliseconds`, the time of a step.
class Stopwatch {
 public:
  explicit Stopwatch(double& milliseconds) : milliseconds_(milliseconds) {}
  ~Stopwatch() {
    milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& milliseconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace facesat

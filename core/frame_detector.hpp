// The whole flow on one page: frame -> gray -> pyramid -> integral images -> cascade -> windows ->
// faces.
#pragma once

#include <memory>
#include <vector>

#include "core/backend.hpp"

namespace facesat {

// The last step: cuts faces to the image, unless they are to stay whole, and leaves out those of
// which nothing remains, and those of lower scores than wanted.
void trim(std::vector<Face>& faces, Size image, const DetectOptions& options);

// One cascade on one backend, one frame at a time. Not for use by several threads at once.
class FrameDetector {
 public:
  // Throws ArgumentError for options outside their range.
  FrameDetector(std::shared_ptr<const Cascade> cascade, const DetectOptions& options,
                std::unique_ptr<Backend> backend);

  // Faces in pixels of the frame: exactly the rectangles that
  // cv::CascadeClassifier::detectMultiScale of OpenCV 4.6 gives for the grey image on one thread,
  // in its order (see Detection::faces). Frames may change size from call to call. Throws
  // MemoryError for a frame too large for the machine.
  std::vector<Face> detect(View<const Bgr> frame);
  std::vector<Face> detect(View<const std::uint8_t> gray);

  // The same in three steps, for callers that have other work meanwhile: load() takes a frame,
  // start() begins detection, finish() waits for it. start() and finish() may be repeated. When
  // frames may be overwritten is said at Backend::load().
  void load(View<const Bgr> frame);
  void load(View<const Rgb> frame);
  void load(View<const std::uint8_t> gray);
  void load(const ImageView& on_device);  // in the memory of a CUDA device: see Backend::load
  void start();
  std::vector<Face> finish();

  // Lets a caller end a running detection: from the next call on, all functions above poll
  // `should_stop` (see core/stop.hpp, and Backend::stop_when for how often) and throw Stopped once
  // it returns true. The detector is then ready for the next frame. An empty function, the default,
  // costs nothing.
  //
  // Must not be called while a frame is in flight. `should_stop` is called by the thread that uses
  // the detector and by oneTBB's worker threads, possibly at the same time: whatever it reads must
  // be safe to read from any thread (an atomic flag, a deadline that does not change).
  void stop_when(ShouldStop should_stop);

  const Cascade& cascade() const { return *cascade_; }
  const Pyramid& pyramid() const { return *pyramid_; }  // of the last frame
  Backend& backend() { return *backend_; }
  const StepTimes& times() const { return times_; }           // of the last frame
  std::size_t window_count() const { return window_count_; }  // before grouping, in the last frame

 private:
  template <class AnyView>
  void load_any(const AnyView& frame);
  void prepare(Size image);

  std::shared_ptr<const Cascade> cascade_;
  DetectOptions options_;
  ShouldStop should_stop_;
  std::unique_ptr<Backend> backend_;
  // On the heap, because the backend borrows it while the detector may be moved.
  std::unique_ptr<Pyramid> pyramid_ = std::make_unique<Pyramid>();
  StepTimes times_;
  std::size_t window_count_ = 0;
};

}  // namespace facesat

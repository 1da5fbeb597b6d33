#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>

#include <tbb/global_control.h>

#include "app/bench/contender.hpp"
#include "cascades/cascade_store.hpp"

namespace facesat::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The number of frames processed at the same time on a GPU: enough for some to be copied and
// uploaded while others are evaluated, or grouped on the host.
constexpr int frames_in_flight = 8;

class FacesatContender final : public Contender {
 public:
  FacesatContender(std::shared_ptr<const Cascade> cascade, const DetectOptions& options,
                   const Backends& backends, const Backends& measuring)
      : on_gpu_(backends.on_gpu()),
        sat_(backends.sat()),
        detector_(cascade, options, backends.make()),
        measured_(cascade, options, measuring.make()),
        raw_(cascade, raw_options(options), backends.make()) {
    if (!on_gpu_) return;
    for (int i = 0; i < frames_in_flight; ++i)
      in_flight_.emplace_back(cascade, options, backends.make());
  }

  std::string name() const override { return on_gpu_ ? "facesat-cuda" : "facesat-cpu"; }
  std::string sat() const override { return sat_; }
  bool has_threads() const override { return !on_gpu_; }
  void use_threads(int threads) override {
    threads_ = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                     threads);
  }
  void load(View<const std::uint8_t> gray) override {
    detector_.load(gray);
    detect();  // waits for the upload, which may continue in the background after load()
    if (on_gpu_) measured_.load(gray);
  }
  std::size_t detect() override {
    detector_.start();
    return detector_.finish().size();
  }
  std::size_t detect(View<const Bgr> frame) override { return detector_.detect(frame).size(); }
  double frames_per_second(View<const Bgr> frame, double seconds) override {
    if (!on_gpu_) return Contender::frames_per_second(frame, seconds);
    for (FrameDetector& detector : in_flight_)
      for (int warm_up = 0; warm_up < 3; ++warm_up) detector.detect(frame);
    std::atomic<int> frames = 0;
    const Clock::time_point begin = Clock::now();
    std::vector<std::future<void>> threads;
    for (FrameDetector& detector : in_flight_)
      threads.push_back(std::async(std::launch::async, [&] {
        while (seconds_since(begin) < seconds) {
          detector.detect(frame);
          ++frames;
        }
      }));
    for (std::future<void>& thread : threads) thread.get();
    return frames / seconds_since(begin);
  }
  std::vector<Rect> windows(View<const std::uint8_t> gray) override {
    std::vector<Rect> boxes;
    for (const Face& window : raw_.detect(gray)) boxes.push_back(window.box);
    std::sort(boxes.begin(), boxes.end());
    return boxes;
  }
  StepTimes times() override {
    if (!on_gpu_) return detector_.times();
    measured_.start();
    measured_.finish();
    return measured_.times();
  }

 private:
  static DetectOptions raw_options(DetectOptions options) {
    options.min_neighbors = 0;
    return options;
  }
  bool on_gpu_;
  std::string sat_;
  // measured_ measures its steps, which takes time on a GPU; raw_ does not group windows.
  FrameDetector detector_, measured_, raw_;
  std::vector<FrameDetector> in_flight_;
  std::unique_ptr<tbb::global_control> threads_;  // limits the threads while it lives
};

}  // namespace

std::unique_ptr<Contender> make_facesat_contender(const std::string& cascade_name,
                                                  const DetectOptions& options,
                                                  BackendOptions backend) {
  const auto cascade = find_cascade(cascade_name);
  const Backends measuring(backend, {cascade});
  if (backend.choice == BackendChoice::automatic && !measuring.on_gpu()) return nullptr;
  backend.measures_steps = false;
  return std::make_unique<FacesatContender>(cascade, options, Backends(backend, {cascade}),
                                            measuring);
}

}  // namespace facesat::app

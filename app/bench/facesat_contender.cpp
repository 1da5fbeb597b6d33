#include <algorithm>

#include "cascades/cascade_store.hpp"
#include <tbb/global_control.h>

#include "app/bench/contender.hpp"

namespace facesat::app {
namespace {

class FacesatContender final : public Contender {
 public:
  FacesatContender(std::shared_ptr<const Cascade> cascade, const DetectOptions& options,
                   const Backends& backends)
      : on_gpu_(backends.on_gpu()),
        sat_(backends.sat()),
        detector_(cascade, options, backends.make(0)),
        raw_(cascade, raw_options(options), backends.make(0)) {}

  std::string name() const override { return on_gpu_ ? "facesat-cuda" : "facesat-cpu"; }
  std::string sat() const override { return sat_; }
  bool has_threads() const override { return !on_gpu_; }
  void use_threads(int threads) override {
    threads_ = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                     threads);
  }
  void load(View<const std::uint8_t> gray) override { detector_.load(gray); }
  std::size_t detect() override {
    detector_.start();
    return detector_.finish().size();
  }
  std::size_t detect(View<const Bgr> frame) override { return detector_.detect(frame).size(); }
  std::vector<Rect> windows(View<const std::uint8_t> gray) override {
    std::vector<Rect> boxes;
    for (const Face& window : raw_.detect(gray)) boxes.push_back(window.box);
    return boxes;
  }
  StepTimes times() const override { return detector_.times(); }

 private:
  static DetectOptions raw_options(DetectOptions options) {
    options.min_neighbors = 0;
    return options;
  }
  bool on_gpu_;
  std::string sat_;
  Detector detector_, raw_;
  std::unique_ptr<tbb::global_control> threads_;
};

}  // namespace

std::unique_ptr<Contender> make_facesat_contender(const std::string& cascade_name,
                                                  const DetectOptions& options,
                                                  const Backends& backends) {
  return std::make_unique<FacesatContender>(find_cascade(cascade_name), options, backends);
}

}  // namespace facesat::app

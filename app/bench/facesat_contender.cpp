#include <algorithm>

#include "cascades/cascade_store.hpp"
#include <tbb/global_control.h>

#include "app/bench/contender.hpp"

namespace facesat::app {
namespace {

class FacesatContender final : public Contender {
 public:
  FacesatContender(std::shared_ptr<const Cascade> cascade, const DetectOptions& options)
      : detector_(cascade, options, make_cpu_backend()),
        raw_(cascade, raw_options(options), make_cpu_backend()) {}

  std::string name() const override { return "facesat-cpu"; }
  void use_threads(int threads) override {
    threads_ = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                     threads);
  }
  std::size_t detect(View<const std::uint8_t> gray) override {
    return detector_.detect(gray).size();
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
  Detector detector_, raw_;
  std::unique_ptr<tbb::global_control> threads_;
};

}  // namespace

std::unique_ptr<Contender> make_facesat_contender(const std::string& cascade_name,
                                                  const DetectOptions& options) {
  return std::make_unique<FacesatContender>(find_cascade(cascade_name), options);
}

}  // namespace facesat::app

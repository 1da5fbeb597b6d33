#include "media/contender.hpp"

#include <algorithm>

#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include "media/opencv_module/module.hpp"

namespace facesat::module {
namespace {

class OpenCvContender final : public Contender {
 public:
  OpenCvContender(const std::string& file, const DetectOptions& options) : options_(options) {
    cascade_.load(file);  // a failure leaves cascade_ empty: see usable()
  }
  bool usable() const { return !cascade_.empty(); }

  std::string name() const override { return "opencv-cpu"; }
  void use_threads(int threads) override {
    cv::setNumThreads(threads);
    cv::parallel_for_({0, threads}, [](const cv::Range&) {});  // wakes the threads
  }
  void load(View<const std::uint8_t> gray) override { gray_ = to_mat(gray); }
  std::size_t detect() override { return detect(gray_, options_.min_neighbors).size(); }
  std::size_t detect(View<const Bgr> frame) override {
    cv::Mat gray;
    cv::cvtColor(to_mat(frame), gray, cv::COLOR_BGR2GRAY);
    return detect(gray, options_.min_neighbors).size();
  }
  std::vector<Rect> windows(View<const std::uint8_t> gray) override {
    std::vector<Rect> boxes;
    for (const cv::Rect& r : detect(to_mat(gray), 0))  // 0: no grouping
      boxes.push_back({r.x, r.y, r.width, r.height});
    std::sort(boxes.begin(), boxes.end());
    return boxes;
  }

 private:
  std::vector<cv::Rect> detect(const cv::Mat& gray, int min_neighbors) {
    std::vector<cv::Rect> rects;
    const auto to_cv = [](Size size) { return cv::Size(size.width, size.height); };
    cascade_.detectMultiScale(gray, rects, options_.scale_factor, min_neighbors, 0,
                              to_cv(options_.min_size), to_cv(options_.max_size));
    return rects;
  }

  DetectOptions options_;
  cv::CascadeClassifier cascade_;
  cv::Mat gray_;  // borrows the pixels given to load()
};

}  // namespace

std::unique_ptr<Contender> make_contender(const std::string& cascade_file,
                                          const DetectOptions& options) {
  auto contender = std::make_unique<OpenCvContender>(cascade_file, options);
  return contender->usable() ? std::move(contender) : nullptr;
}

}  // namespace facesat::module

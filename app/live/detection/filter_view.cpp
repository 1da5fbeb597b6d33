#include "app/live/detection/filter_view.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/cpu/gray.hpp"
#include "filters/mask.hpp"
#include "kernels/filter/algorithm.hpp"

namespace facesat::app {
namespace {

std::vector<FilterTime> added_up(std::vector<FilterTime> times) {
  std::vector<FilterTime> steps;
  for (FilterTime& time : times) {
    const auto same = std::find_if(steps.begin(), steps.end(),
                                   [&](const FilterTime& step) { return step.step == time.step; });
    if (same == steps.end())
      steps.push_back(std::move(time));
    else
      same->us += time.us;
  }
  return steps;
}

int largest_difference(View<const std::uint8_t> a, View<const std::uint8_t> b) {
  int largest = 0;
  for (int y = 0; y < a.size.height; ++y)
    for (int x = 0; x < a.size.width; ++x)
      largest = std::max(largest, std::abs(a.row(y)[x] - b.row(y)[x]));
  return largest;
}

bool has_algorithm(const std::vector<std::string>& algorithms, const std::string& name) {
  return std::find(algorithms.begin(), algorithms.end(), name) != algorithms.end();
}

}  // namespace

int largest_radius(FilterKind kind) {
  return kind == FilterKind::sobel ? greatest_sobel_radius : 100;
}

double FilterRun::compute_ms() const {
  double us = 0;
  for (const FilterTime& time : times)
    if (time.step != "upload" && time.step != "download") us += time.us;
  return us / 1000;
}

void FilterView::load(View<const Bgr> frame, bool equalize) {
  gray_.resize(frame.size);
  cpu::to_gray(frame, gray_.view());
  if (equalize) cpu::equalize(gray_.view(), gray_.view());
}

FilterRun FilterView::apply(const PictureFilterSettings& settings, Image<std::uint8_t>& result) {
  FilterRun run{settings.algorithm, {}};
  result.resize(gray_.size());
  filter_->apply(std::as_const(gray_).view(), settings, result.view(), run.times);
  run.times = added_up(std::move(run.times));
  return run;
}

FilterResult FilterView::run(const FilterChoice& choice) {
  PictureFilterSettings settings = choice.filter;
  FilterResult result;
  result.algorithms = filter_->algorithms(settings.kind, settings.radius);
  for (const std::string& name : filter_->algorithms(settings.kind, 1))
    if (!has_algorithm(result.algorithms, name)) result.too_slow.push_back(name);
  if (!has_algorithm(result.algorithms, settings.algorithm))
    settings.algorithm = result.algorithms.front();
  result.shown = apply(settings, result_);
  if (choice.compared == settings.algorithm || !has_algorithm(result.algorithms, choice.compared))
    return result;
  settings.algorithm = choice.compared;
  result.compared = apply(settings, compared_);
  result.difference =
      largest_difference(std::as_const(result_).view(), std::as_const(compared_).view());
  return result;
}

InspectedPicture FilterView::picture() const {
  InspectedPicture picture{
      {.picture = Snapshot::gray, .filtered = true}, Image<std::uint32_t>(result_.size()), {}, 255};
  for (int y = 0; y < result_.size().height; ++y)
    std::copy_n(result_.row(y), result_.size().width, picture.values.row(y));
  picture.colours = coloured(picture.values, Snapshot::gray, picture.largest);
  return picture;
}

void FrameFilter::use(const FilterChoice& choice, bool is_on, const BackendOptions& machine) {
  if (choice_ != choice || is_on_ != is_on) ++changes_;
  if (machine_ != machine) view_.reset();
  choice_ = choice;
  is_on_ = is_on;
  machine_ = machine;
}

// Needs no detector: the grey image is the same, bit for bit, wherever it is made.
FilterResult FrameFilter::run(View<const Bgr> frame, bool equalize, std::optional<int> device) {
  if (!view_)
    view_.emplace(device ? gpu::make_cuda_picture_filter(*device) : make_cpu_picture_filter());
  view_->load(frame, equalize);
  return view_->run(*choice_);
}

std::optional<FilterResult> FrameFilter::run_again() {
  return view_ ? std::optional(view_->run(*choice_)) : std::nullopt;
}

}  // namespace facesat::app

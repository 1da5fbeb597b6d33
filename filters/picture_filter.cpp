#include "filters/picture_filter.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filters/cpu/filter.hpp"
#include "filters/halftone.hpp"
#include "filters/mask.hpp"
#include "filters/rounding.hpp"

namespace facesat {

void check_filter_radius(FilterKind kind, int radius) {
  if (kind == FilterKind::halftone) return;
  const bool is_sobel = kind == FilterKind::sobel;
  const int least = is_sobel ? 1 : 0;
  const int greatest = is_sobel ? greatest_sobel_radius : greatest_filter_radius;
  if (radius < least || radius > greatest)
    throw ArgumentError(fmt::format("the filter {} takes a radius from {} to {}, not {}",
                                    filter_names[static_cast<std::size_t>(kind)], least, greatest,
                                    radius));
}

namespace {

constexpr int greatest_direct_radius = 15;  // a picture of 1080p takes about a second

class CpuPictureFilter final : public PictureFilter {
 public:
  std::vector<std::string> algorithms(FilterKind kind, int radius) const override {
    std::vector<std::string> ids;
    switch (kind) {
      case FilterKind::box:
        ids = {"integral", "separable"};
        break;
      case FilterKind::gaussian:
        ids = {"separable", "three_boxes"};
        break;
      case FilterKind::sobel:
        ids = {"separable"};
        break;
      case FilterKind::adaptive_threshold:
      case FilterKind::deviation:
      case FilterKind::skewness:
        ids = {"integral"};
        break;
      case FilterKind::halftone:
        return {"collection"};
    }
    if (radius <= greatest_direct_radius) ids.emplace_back("direct");
    return ids;
  }

  void apply(View<const std::uint8_t> gray, const PictureFilterSettings& settings,
             View<std::uint8_t> result, std::vector<FilterTime>& times) override {
    check_filter_radius(settings.kind, settings.radius);
    const std::string algorithm = chosen(settings);
    times.clear();
    times_ = &times;
    switch (settings.kind) {
      case FilterKind::box:
        return box(gray, settings, algorithm, result);
      case FilterKind::gaussian:
        return gaussian(gray, settings, algorithm, result);
      case FilterKind::sobel:
        return sobel(gray, settings, algorithm, result);
      case FilterKind::adaptive_threshold:
        return adaptive_threshold(gray, settings, algorithm, result);
      case FilterKind::deviation:
        return deviation(gray, settings, algorithm, result);
      case FilterKind::skewness:
        return skewness(gray, settings, algorithm, result);
      case FilterKind::halftone:
        return timed("error collection", [&] { collect_errors<IntegerHalftone>(gray, result); });
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Gray = View<const std::uint8_t>;
  using Result = View<std::uint8_t>;
  using Settings = PictureFilterSettings;

  std::string chosen(const Settings& settings) const {
    const std::vector<std::string> all = algorithms(settings.kind, settings.radius);
    if (settings.algorithm.empty()) return all.front();
    if (std::find(all.begin(), all.end(), settings.algorithm) == all.end())
      throw ArgumentError(fmt::format("the filter {} has no algorithm '{}' on the CPU; it has: {}",
                                      filter_names[static_cast<std::size_t>(settings.kind)],
                                      settings.algorithm, fmt::join(all, ", ")));
    return settings.algorithm;
  }

  template <class Run>
  void timed(const char* step, Run run) {
    const auto begin = Clock::now();
    run();
    times_->push_back(
        {step, std::chrono::duration<double, std::micro>(Clock::now() - begin).count()});
  }

  void build_tables(Gray gray, cpu::Powers powers, Radius radius) {
    timed(powers == cpu::Powers::pixels ? "integral image" : "integral images",
          [&] { tables_.build(gray, powers, radius); });
  }

  void box(Gray gray, const Settings& s, const std::string& algorithm, Result result) {
    const Radius radius{s.radius, s.radius};
    if (algorithm == "integral") build_tables(gray, cpu::Powers::pixels, radius);
    timed("box", [&] {
      if (algorithm == "integral")
        cpu::box_mean(tables_, radius, s.border, result);
      else if (algorithm == "separable")
        cpu::separable_box_mean(gray, radius, s.border, result);
      else
        cpu::direct_box_mean(gray, radius, s.border, result);
    });
  }

  void gaussian(Gray gray, const Settings& s, const std::string& algorithm, Result result) {
    if (algorithm == "three_boxes")
      return timed("three boxes", [&] {
        cpu::three_box_means(gray, sigma_of(s.radius), s.border, result, tables_);
      });
    const Mask<std::int32_t> mask = gaussian_mask<std::int32_t>(s.radius);
    timed("gaussian", [&] {
      if (algorithm == "separable")
        cpu::convolve_separable(gray, mask, s.border, result);
      else
        cpu::convolve_direct(gray, mask, s.border, result);
    });
  }

  void sobel(Gray gray, const Settings& s, const std::string& algorithm, Result result) {
    if (algorithm == "separable")
      return timed("gradient", [&] { cpu::sobel_gradient(gray, s.radius, s.border, result); });
    const auto derive = [&](bool along_x, Image<std::int32_t>& derivative) {
      derivative.resize(gray.size);
      cpu::convolve_direct(gray, sobel_mask<std::int32_t>(s.radius, along_x), s.border,
                           derivative.view());
    };
    timed("derivative along x", [&] { derive(true, dx_); });
    timed("derivative along y", [&] { derive(false, dy_); });
    timed("gradient", [&] {
      for (int y = 0; y < gray.size.height; ++y)
        for (int x = 0; x < gray.size.width; ++x)
          result.row(y)[x] = gradient_pixel(dx_.row(y)[x], dy_.row(y)[x], s.radius);
    });
  }

  void adaptive_threshold(Gray gray, const Settings& s, const std::string& algorithm,
                          Result result) {
    const Radius radius{s.radius, s.radius};
    if (algorithm == "integral") build_tables(gray, cpu::Powers::pixels, radius);
    timed("threshold", [&] {
      if (algorithm == "integral")
        cpu::adaptive_threshold(tables_, gray, radius, s.border, s.offset, result);
      else
        cpu::direct_adaptive_threshold(gray, radius, s.border, s.offset, result);
    });
  }

  void deviation(Gray gray, const Settings& s, const std::string& algorithm, Result result) {
    const Radius radius{s.radius, s.radius};
    if (algorithm == "integral") build_tables(gray, cpu::Powers::squares, radius);
    timed("deviation", [&] {
      if (algorithm == "integral")
        cpu::deviation(tables_, radius, s.border, result);
      else
        cpu::direct_deviation(gray, radius, s.border, result);
    });
  }

  void skewness(Gray gray, const Settings& s, const std::string& algorithm, Result result) {
    const Radius radius{s.radius, s.radius};
    if (algorithm == "integral") build_tables(gray, cpu::Powers::cubes, radius);
    timed("skewness", [&] {
      if (algorithm == "integral")
        cpu::skewness(tables_, radius, s.border, result);
      else
        cpu::direct_skewness(gray, radius, s.border, result);
    });
  }

  cpu::IntegralImages tables_;
  Image<std::int32_t> dx_, dy_;
  std::vector<FilterTime>* times_ = nullptr;  // of the call
};

}  // namespace

std::unique_ptr<PictureFilter> make_cpu_picture_filter() {
  return std::make_unique<CpuPictureFilter>();
}

}  // namespace facesat

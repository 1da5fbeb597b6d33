// Filters of grey pictures whose results are pictures, too: what the window shows. On the CPU here;
// kernels/filter/cuda_picture_filter.cpp has the same on a GPU. Both give the same pixels.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "filters/border.hpp"

namespace facesat {

enum class FilterKind {
  box,                 // the rounded mean of the window around each pixel
  gaussian,            // of OpenCV's sigma for the radius; with three boxes, an approximation
  sobel,               // gradient_pixel() of both derivatives; radius at most 6
  adaptive_threshold,  // threshold_pixel()
  deviation,           // deviation_pixel(): the local standard deviation
  skewness,            // skewness_pixel()
  halftone             // error diffusion by whole numbers (halftone.hpp); radius and border unused
};
inline constexpr std::array<std::string_view, 7> filter_names{
    "box", "gaussian", "sobel", "adaptive-threshold", "deviation", "skewness", "halftone"};

// Throws ArgumentError with a sentence, unless the filter takes this radius.
void check_filter_radius(FilterKind kind, int radius);

struct PictureFilterSettings {
  FilterKind kind = FilterKind::box;
  int radius = 5;
  Border border = Border::reflect101;
  int offset = 5;           // of adaptive_threshold
  std::string algorithm{};  // one of PictureFilter::algorithms(); empty: the first

  bool operator==(const PictureFilterSettings&) const = default;
};

struct FilterTime {
  std::string step;  // what was done, for example "integral image" or "box"
  double us = 0;
};

// Belongs to one thread at a time.
class PictureFilter {
 public:
  virtual ~PictureFilter() = default;

  // The ways to compute a filter of this radius, if it takes it; the first is the fastest for most
  // pictures. Those that read whole windows are left out where that would take too long.
  virtual std::vector<std::string> algorithms(FilterKind kind, int radius) const = 0;

  // Filters a picture of at least one pixel in the host's memory into `result`, of the same size.
  // Replaces `times` by the time of each step; on a GPU, the transfers are steps as well. Throws
  // ArgumentError for a radius or an algorithm that the filter does not take, MemoryError, and on a
  // GPU DeviceError.
  virtual void apply(View<const std::uint8_t> gray, const PictureFilterSettings& settings,
                     View<std::uint8_t> result, std::vector<FilterTime>& times) = 0;
};

std::unique_ptr<PictureFilter> make_cpu_picture_filter();

}  // namespace facesat

// Statistics of the window around each pixel of an 8-bit picture, on a GPU: what integral images
// (summed area tables) of the pixels, their squares and their cubes are for. Includes no CUDA
// headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "filters/border.hpp"
#include "filters/mask.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// Each is a rule of filters/rounding.hpp, with the type of the result.
enum class Statistic {
  mean,            // rounded_pixel(): 8u
  threshold,       // threshold_pixel(): 8u
  deviation,       // deviation_pixel(): 8u
  skewness_pixel,  // 8u
  variance,        // variance_of(), rounded to 32f
  skewness         // skewness_of(), rounded to 32f
};

// Pictures are in device memory, as those of a FilterTask.
struct StatisticTask {
  Statistic statistic = Statistic::mean;
  View<const std::uint8_t> picture;
  void* output = nullptr;
  std::ptrdiff_t output_pitch = 0;  // in elements
  Radius radius;                    // 0 to greatest_filter_radius
  Border border = Border::reflect101;
  int offset = 0;                     // of the threshold
  const SatAlgorithm* sat = nullptr;  // null: the default
};

// As FilterAlgorithm::workspace_bytes and enqueue, whose conditions hold here, too.
std::size_t statistic_workspace_bytes(const StatisticTask& task);
void enqueue_statistic(const StatisticTask& task, void* workspace, StreamHandle stream);

// The same by reading each window, for comparison; without a workspace.
void enqueue_direct_statistic(const StatisticTask& task, StreamHandle stream);

// An approximation of the Gaussian by three means, each rounded to 8 bits; their radii are those of
// three_boxes(). `statistic`, `output` and `radius` of the task are not looked at. `result` has the
// picture's size.
std::size_t three_boxes_workspace_bytes(const StatisticTask& task);
void enqueue_three_boxes(const StatisticTask& task, const ThreeBoxes& boxes,
                         View<std::uint8_t> result, void* workspace, StreamHandle stream);

// gradient_pixel() of each pair of elements.
void enqueue_gradient(View<const std::int32_t> dx, View<const std::int32_t> dy, int radius,
                      View<std::uint8_t> result, StreamHandle stream);

}  // namespace facesat::gpu

// Statistics of windows, against their definition.
#include "filters/definition.hpp"
#include "kernels/filter/statistics.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

using gpu::Statistic;
using gpu::StatisticTask;

constexpr std::array all_borders{Border::zero, Border::clamp, Border::mirror, Border::reflect101,
                                 Border::wrap};
constexpr int offset = 4;

float definition(Statistic statistic, std::uint8_t pixel, const WindowSums& sums) {
  switch (statistic) {
    case Statistic::mean:
      return rounded_pixel(sums.sum, sums.pixels);
    case Statistic::threshold:
      return threshold_pixel(pixel, sums, offset);
    case Statistic::deviation:
      return deviation_pixel(sums);
    case Statistic::variance:
      return static_cast<float>(variance_of(sums));
    case Statistic::skewness:
      return static_cast<float>(skewness_of(sums));
  }
  return 0;
}

template <class Out>
void check(Statistic statistic, Size size, Radius radius, Border border, int noise_bits = 8) {
  const std::string what = "statistic " + std::to_string(static_cast<int>(statistic)) + ", " +
                           std::to_string(size.width) + "x" + std::to_string(size.height) +
                           ", radius " + std::to_string(radius.x) + " x " +
                           std::to_string(radius.y) + ", " + std::string(name_of(border));
  Image<std::uint8_t> picture = noise(size, static_cast<unsigned>(size.width));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      picture.row(y)[x] = static_cast<std::uint8_t>(picture.row(y)[x] >> (8 - noise_bits));
  const View<const std::uint8_t> pixels = std::as_const(picture).view();
  Image<Out> expected(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      expected.row(y)[x] = static_cast<Out>(
          definition(statistic, pixels.row(y)[x], window_at(pixels, x, y, radius, border)));
  DevicePicture<std::uint8_t> input(size, 77);
  input.upload(pixels);
  DevicePicture<Out> output(size, Out{});
  const StatisticTask task{.statistic = statistic,
                           .picture = input.view(),
                           .output = output.view().data,
                           .output_pitch = output.view().pitch,
                           .radius = radius,
                           .border = border,
                           .offset = offset};
  DeviceArray<std::byte> workspace(std::vector<std::byte>(statistic_workspace_bytes(task)));
  for (int round = 0; round < 2; ++round) {
    output.clear();
    enqueue_statistic(task, workspace.data(), test_stream());
    output.expect(std::as_const(expected).view(), what);
  }
  output.clear();
  enqueue_direct_statistic(task, test_stream());
  output.expect(std::as_const(expected).view(), what + ", direct");
}

void check_all(Size size, Radius radius, Border border, int noise_bits = 8) {
  for (const Statistic statistic : {Statistic::mean, Statistic::threshold, Statistic::deviation})
    check<std::uint8_t>(statistic, size, radius, border, noise_bits);
  for (const Statistic statistic : {Statistic::variance, Statistic::skewness})
    check<float>(statistic, size, radius, border, noise_bits);
}

TEST(WindowStatistics, AllBorders) {
  for (const Border border : all_borders) {
    check_all({37, 21}, {2, 1}, border);
    check_all({5, 3}, {7, 9}, border);
  }
}

TEST(WindowStatistics, WindowsOfOnePixelAndOfEqualPixels) {
  check_all({33, 9}, {0, 0}, Border::zero);
  check_all({33, 9}, {3, 3}, Border::wrap, 0);
}

TEST(WindowStatistics, SquaresThatExceed32Bits) {
  // 257 x 259 pixels; all white, their squares have a sum of 4.3e9.
  check<float>(Statistic::variance, {4, 3}, {128, 129}, Border::mirror);
  check<std::uint8_t>(Statistic::deviation, {4, 3}, {128, 129}, Border::clamp);
}

TEST(WindowStatistics, ThreeBoxesAreThreeMeans) {
  const Size size{70, 33};
  const Image<std::uint8_t> picture = noise(size, 3);
  const ThreeBoxes boxes = three_boxes(2.5);
  Image<std::uint8_t> expected(size), next(size);
  copy(picture.view(), expected.view());
  for (const int radius : boxes.radius) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const WindowSums sums =
            window_at(std::as_const(expected).view(), x, y, {radius, radius}, Border::reflect101);
        next.row(y)[x] = rounded_pixel(sums.sum, sums.pixels);
      }
    std::swap(expected, next);
  }
  DevicePicture<std::uint8_t> input(size, 77), output(size, 0);
  input.upload(picture.view());
  const StatisticTask task{.picture = input.view()};
  DeviceArray<std::byte> workspace(std::vector<std::byte>(three_boxes_workspace_bytes(task)));
  for (int round = 0; round < 2; ++round) {
    output.clear();
    enqueue_three_boxes(task, boxes, output.view(), workspace.data(), test_stream());
    output.expect(std::as_const(expected).view(), "three boxes");
  }
}

TEST(WindowStatistics, Gradient) {
  const Size size{45, 11};
  Image<std::int32_t> dx(size), dy(size);
  Image<std::uint8_t> expected(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      dx.row(y)[x] = (x - 20) * 300;
      dy.row(y)[x] = (y - 5) * -77;
      expected.row(y)[x] = gradient_pixel(dx.row(y)[x], dy.row(y)[x], 2);
    }
  DevicePicture<std::int32_t> in_x(size, 0), in_y(size, 0);
  in_x.upload(std::as_const(dx).view());
  in_y.upload(std::as_const(dy).view());
  DevicePicture<std::uint8_t> output(size, 0);
  gpu::enqueue_gradient(in_x.view(), in_y.view(), 2, output.view(), test_stream());
  output.expect(std::as_const(expected).view(), "gradient");
}

}  // namespace
}  // namespace facesat::test

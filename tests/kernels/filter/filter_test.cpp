// The contract of kernels/filter/algorithm.hpp, for every algorithm in the registry; and statistics
// of windows.
#include <cmath>
#include <limits>
#include <random>

#include "filters/definition.hpp"
#include "filters/picture_filter.hpp"
#include "kernels/filter/algorithm.hpp"
#include "kernels/filter/statistics.hpp"
#include "tests/filters/filters.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

using gpu::FilterAlgorithm;
using gpu::FilterTask;
using gpu::FilterType;
using gpu::MaskKind;

template <class Out>
using WeightOf = std::conditional_t<std::is_same_v<Out, float>, float, std::int32_t>;

// The mask's weights in device memory.
template <class W>
class UploadedMask {
 public:
  UploadedMask(const Mask<W>& mask, MaskKind kind)
      : mask_(mask), kind_(kind), weights_(mask.weights), row_(mask.row), column_(mask.column) {}

  gpu::DeviceMask mask() {
    return {.kind = kind_,
            .radius = mask_.radius,
            .weights = weights_.data(),
            .row = row_.data(),
            .column = column_.data(),
            .host_weights = mask_.weights.data(),
            .host_row = mask_.row.data(),
            .host_column = mask_.column.data(),
            .divisor = static_cast<double>(mask_.divisor)};
  }

 private:
  const Mask<W>& mask_;
  MaskKind kind_;
  DeviceArray<W> weights_, row_, column_;
};

template <class W>
std::vector<W> random_weights(int n, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<W> weights;
  for (int i = 0; i < n; ++i)
    weights.push_back(static_cast<W>(static_cast<int>(random() % 13) - 5));
  return weights;
}

template <class W>
Mask<W> random_mask(MaskKind kind, Radius radius, unsigned seed) {
  if (kind == MaskKind::ones) return box_mask<W>(radius);
  if (kind == MaskKind::separable)
    return separable_mask<W>(random_weights<W>(radius.columns(), seed),
                             random_weights<W>(radius.rows(), seed + 1), static_cast<W>(7));
  return {
      radius, random_weights<W>(static_cast<int>(radius.area()), seed), {}, {}, static_cast<W>(9)};
}

// Pixels of the whole range of the type; real numbers from -100 to 155.
template <class In>
Image<In> random_picture(Size size) {
  const Image<std::uint8_t> bytes = noise(size, static_cast<unsigned>(size.width + size.height));
  return formula<In>(size, [&](int x, int y) {
    const unsigned byte = bytes.row(y)[x];
    if constexpr (std::is_same_v<In, float>)
      return static_cast<float>(byte) * 1.01f - 100;
    else
      return sizeof(In) > 1 ? byte * 0x01234567u + 0x89ABCDEFu : byte;
  });
}

// What is expected: of real numbers in double precision, with the sums of magnitudes.
template <class In, class Out, class W>
Image<Out> expected_result(View<const In> picture, const Mask<W>& mask, Border border) {
  Image<Out> result(picture.size);
  convolve<std::uint32_t>(picture, mask, border, result.view());
  return result;
}

// The rounding error of n additions and products is at most n * epsilon times the sum of their
// magnitudes. Sliding sums (facesat_box) add and subtract rows of up to 128 columns all the way
// down a strip.
double error_bound(const FilterAlgorithm& algorithm, Size size, const Mask<float>& mask,
                   double magnitudes) {
  constexpr double epsilon = std::numeric_limits<float>::epsilon();
  if (algorithm.id != "facesat_box")
    return epsilon * static_cast<double>(mask.radius.area() + 4) * magnitudes;
  const double strip = 2 * 128 * 155.0 * (mask.radius.rows() + 1);
  return epsilon * strip * (2.0 * (size.height + mask.radius.rows()) + 14) /
         static_cast<double>(mask.divisor);
}

void expect_reals(const FilterAlgorithm& algorithm, View<const float> picture,
                  const Mask<float>& mask, Border border, const Image<float>& result,
                  const std::string& what) {
  Image<double> exact(picture.size);
  convolve<double>(picture, mask, border, exact.view());
  const Image<double> bounds = sums_of_magnitudes(picture, mask, border);
  int wrong = 0;
  for (int y = 0; y < picture.size.height; ++y)
    for (int x = 0; x < picture.size.width; ++x) {
      const double bound = error_bound(algorithm, picture.size, mask, bounds.row(y)[x]);
      wrong += !(std::abs(result.row(y)[x] - exact.row(y)[x]) <= bound);
    }
  EXPECT_EQ(wrong, 0) << what << ": elements beyond the error bound";
}

// In the valid part alone, elements around it are those that were there before.
template <class T>
void keep_valid_part(Image<T>& expected, Radius radius, T before) {
  const Size size = expected.size();
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (x < radius.x || x >= size.width - radius.x || y < radius.y || y >= size.height - radius.y)
        expected.row(y)[x] = before;
}

template <class In, class Out>
void check(const FilterAlgorithm& algorithm, FilterType type, Size size,
           const Mask<WeightOf<Out>>& mask, MaskKind kind, Border border) {
  const std::string what = std::string(algorithm.id) + ", " + std::string(info_of(type).name) +
                           ", " + name_of(size, mask.radius, border);
  const Image<In> picture = random_picture<In>(size);
  const View<const In> values = picture.view();
  DevicePicture<In> input(size, static_cast<In>(77));
  input.upload(values);
  UploadedMask<WeightOf<Out>> uploaded(mask, kind);
  DevicePicture<Out> output(size, Out{});
  FilterTask task{.type = type,
                  .size = size,
                  .input = input.view().data,
                  .input_pitch = input.view().pitch,
                  .output = output.view().data,
                  .output_pitch = output.view().pitch,
                  .border = border,
                  .mask = uploaded.mask()};
  if (!why_not(algorithm, task).empty()) return;
  twice_with_a_workspace(algorithm.workspace_bytes(task), [&](std::byte* workspace) {
    output.clear();
    algorithm.enqueue(task, workspace, test_stream());
    if constexpr (std::is_same_v<Out, float>) {
      const Image<float> result = output.inside();
      if (!algorithm.is_valid_part) expect_reals(algorithm, values, mask, border, result, what);
      output.expect(result.view(), what);  // nothing outside is written
    } else {
      Image<Out> expected = expected_result<In, Out>(values, mask, border);
      if (algorithm.is_valid_part)
        keep_valid_part(expected, mask.radius, DevicePicture<Out>::poison);
      output.expect(expected.view(), what);
    }
  });
}

class Filter : public ::testing::TestWithParam<const FilterAlgorithm*> {
 protected:
  // Whether its masks may have several rows.
  Radius radius(int x, int y) const { return {x, GetParam()->is_1d ? 0 : y}; }
};

TEST_P(Filter, AllTypesBordersAndRadii) {
  const std::vector<Size> sizes = on_gpu ? std::vector<Size>{{1, 1}, {67, 45}, {300, 131}}
                                         : std::vector<Size>{{5, 3}, {67, 37}};
  unsigned seed = 1;
  for (const Size size : sizes)
    for (const auto& type : gpu::filter_types)
      gpu::visit_types(type.type, [&]<class In, class Out>(In, Out) {
        for (const Border border : all_borders)
          for (const Radius r : {radius(1, 1), radius(0, 3), radius(6, 2)}) {
            // On the host, where blocks take their time, each border has some of the masks.
            if (!on_gpu && (++seed + static_cast<unsigned>(border)) % 2 == 0) continue;
            const MaskKind kind = GetParam()->takes;
            check<In, Out>(*GetParam(), type.type, size,
                           random_mask<WeightOf<Out>>(kind, r, ++seed), kind, border);
          }
      });
}

TEST_P(Filter, SizesAroundTileEdges) {  // 16, 32, 128, 256 and strips of 240 columns
  std::vector<Size> sizes{{1, 1}, {1, 40}, {683, 21}, {31, 33}, {129, 17}};
  if (on_gpu)
    sizes.insert(sizes.end(), {{256, 64}, {257, 65}, {1023, 517}, {241, 1025}, {3840, 33}});
  for (const Size size : sizes) {
    const MaskKind kind = GetParam()->takes;
    check<std::uint8_t, std::int32_t>(*GetParam(), FilterType::u8_s32, size,
                                      random_mask<std::int32_t>(kind, radius(2, 2), 5), kind,
                                      Border::mirror);
    check<std::uint8_t, std::uint8_t>(*GetParam(), FilterType::u8_u8, size,
                                      random_mask<std::int32_t>(kind, radius(3, 1), 5), kind,
                                      Border::reflect101);
  }
}

TEST_P(Filter, RadiiLargerThanThePicture) {
  for (const Border border : all_borders)
    for (const Size size : {Size{3, 2}, {13, 7}}) {
      const MaskKind kind = GetParam()->takes;
      check<std::uint8_t, std::uint8_t>(*GetParam(), FilterType::u8_u8, size,
                                        random_mask<std::int32_t>(kind, radius(14, 9), 3), kind,
                                        border);
      check<std::uint8_t, std::uint8_t>(*GetParam(), FilterType::u8_u8, size,
                                        random_mask<std::int32_t>(kind, radius(31, 31), 3), kind,
                                        border);
    }
}

TEST_P(Filter, BoxesAndGaussians) {
  for (const int r : {1, 2, 3, 5, 7, 10, 15, 31}) {
    if (!on_gpu && r > 7 && GetParam()->takes == MaskKind::any) continue;  // slow there
    const Mask<std::int32_t> gaussian = gaussian_mask<std::int32_t>(r),
                             box = box_mask<std::int32_t>(radius(r, r));
    const Size size = on_gpu ? Size{261, 70} : Size{134, 35};
    check<std::uint8_t, std::uint8_t>(*GetParam(), FilterType::u8_u8, size, box, MaskKind::ones,
                                      Border::reflect101);
    if (!GetParam()->is_1d && GetParam()->takes != MaskKind::ones)
      check<std::uint8_t, std::uint8_t>(*GetParam(), FilterType::u8_u8, size, gaussian,
                                        MaskKind::separable, Border::clamp);
  }
}

// Of whole numbers up to 2^24, in any order; then there is only one rounding, that of the quotient.
TEST_P(Filter, SumsOfRealNumbersThatAreExact) {
  const Size size{300, 40};
  const Image<std::uint8_t> levels = noise(size, 3);
  const auto picture = formula<float>(size, [&](int x, int y) { return levels.row(y)[x]; });
  const MaskKind kind = GetParam()->takes;
  Mask<float> mask = random_mask<float>(kind, radius(3, 2), 8);
  mask.divisor = 35;
  DevicePicture<float> input(size, 77), output(size, 0);
  input.upload(picture.view());
  UploadedMask<float> uploaded(mask, kind);
  const FilterTask task{.type = FilterType::f32_f32,
                        .size = size,
                        .input = input.view().data,
                        .input_pitch = input.view().pitch,
                        .output = output.view().data,
                        .output_pitch = output.view().pitch,
                        .border = Border::mirror,
                        .mask = uploaded.mask()};
  Image<float> expected(size);
  convolve<float>(picture.view(), mask, Border::mirror, expected.view());
  if (GetParam()->is_valid_part)
    keep_valid_part(expected, mask.radius, DevicePicture<float>::poison);
  DeviceArray<std::byte> workspace(std::vector<std::byte>(GetParam()->workspace_bytes(task)));
  GetParam()->enqueue(task, workspace.data(), test_stream());
  output.expect(expected.view(), std::string(GetParam()->id));
}

TEST(FilterAlongRows, LongSignals) {
  const Size size{on_gpu ? (1 << 24) + 77 : 32768 + 77, 1};  // more blocks than 65535
  for (const FilterAlgorithm* algorithm :
       {gpu::find_filter("lecture_1d_naive"), gpu::find_filter("lecture_1d_shared")})
    for (const auto& type : gpu::filter_types)
      gpu::visit_types(type.type, [&]<class In, class Out>(In, Out) {
        for (const Border border : {Border::wrap, Border::reflect101})
          check<In, Out>(*algorithm, type.type, size,
                         random_mask<WeightOf<Out>>(MaskKind::any, {2, 0}, 3), MaskKind::any,
                         border);
      });
}

TEST(FacesatBox, StripsAtTheEdges) {
  // The next to last strip of 224 or 192 results ends before the picture does, and its halo after.
  const FilterAlgorithm& box = *gpu::find_filter("facesat_box");
  for (const Border border : all_borders)
    for (const int width : {450, 463, 674, 686})
      for (const Radius r : {Radius{15, 2}, Radius{31, 1}, Radius{4, 9}}) {
        const Size size{width, on_gpu ? 150 : 13};
        check<std::uint8_t, std::uint8_t>(box, FilterType::u8_u8, size, box_mask<std::int32_t>(r),
                                          MaskKind::ones, border);
        if (width == 463)
          check<float, float>(box, FilterType::f32_f32, size, box_mask<float>(r), MaskKind::ones,
                              border);
      }
}

TEST_P(Filter, BlackAndWhitePictures) {
  // Sums that are as large as they can be, in all schedules.
  const Size size{70, 40};
  for (const std::uint8_t value : {0, 255}) {
    const Image<std::uint8_t> picture = flat(size, value);
    const Mask<std::int32_t> mask = box_mask<std::int32_t>(radius(4, 4));
    DevicePicture<std::uint8_t> input(size, 77);
    input.upload(picture.view());
    UploadedMask<std::int32_t> uploaded(mask, MaskKind::ones);
    under_all_schedules([&] {
      DevicePicture<std::uint8_t> output(size, 0);
      const FilterTask task{.type = FilterType::u8_u8,
                            .size = size,
                            .input = input.view().data,
                            .input_pitch = input.view().pitch,
                            .output = output.view().data,
                            .output_pitch = output.view().pitch,
                            .border = Border::clamp,
                            .mask = uploaded.mask()};
      DeviceArray<std::byte> workspace(std::vector<std::byte>(GetParam()->workspace_bytes(task)));
      GetParam()->enqueue(task, workspace.data(), test_stream());
      Image<std::uint8_t> expected = flat(size, value);
      if (GetParam()->is_valid_part)
        keep_valid_part(expected, mask.radius, DevicePicture<std::uint8_t>::poison);
      output.expect(expected.view(), std::string(GetParam()->id));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, Filter, ::testing::ValuesIn(gpu::filter_algorithms()),
                         [](const auto& tested) { return std::string(tested.param->id); });

TEST(FilterRegistry, SaysWhatAnAlgorithmCannotDo) {
  FilterTask task{.size = {10, 10}};
  task.mask = {.kind = MaskKind::any, .radius = {1, 1}};
  EXPECT_EQ(why_not(*gpu::find_filter("lecture_2d_naive"), task), "");
  EXPECT_EQ(why_not(*gpu::find_filter("integral_box"), task), "for boxes only");
  EXPECT_EQ(why_not(*gpu::find_filter("lecture_separable"), task), "for separable masks only");
  EXPECT_EQ(why_not(*gpu::find_filter("lecture_1d_naive"), task), "for masks of one row only");
  task.mask.radius = {16, 16};
  EXPECT_NE(why_not(*gpu::find_filter("lecture_2d_idle_threads"), task), "");
  task.size = {32769, 1};
  task.mask.radius = {1, 0};
  EXPECT_EQ(why_not(*gpu::find_filter("lecture_2d_naive"), task), "rows of up to 32768 elements");
  EXPECT_EQ(why_not(*gpu::find_filter("lecture_1d_shared"), task), "");
  task.size = {10, 10};
  task.mask.radius = {greatest_filter_radius + 1, 0};
  EXPECT_EQ(why_not(*gpu::find_filter("lecture_2d_naive"), task), "radii from 0 to 1450");
  EXPECT_EQ(gpu::find_filter("nothing"), nullptr);
}

// ---- statistics of windows, against their definition

using gpu::Statistic;
using gpu::StatisticTask;

constexpr int offset = 4;

float definition(Statistic statistic, std::uint8_t pixel, const WindowSums& sums) {
  switch (statistic) {
    case Statistic::mean:
      return rounded_pixel(sums.sum, sums.pixels);
    case Statistic::threshold:
      return threshold_pixel(pixel, sums, offset);
    case Statistic::deviation:
      return deviation_pixel(sums);
    case Statistic::skewness_pixel:
      return skewness_pixel(sums);
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
                           name_of(size, radius, border);
  const Image<std::uint8_t> picture =
      noise(size, static_cast<unsigned>(size.width), 0, 1 << noise_bits);
  const View<const std::uint8_t> pixels = picture.view();
  const auto expected = formula<Out>(size, [&](int x, int y) {
    return definition(statistic, pixels.row(y)[x], window_at(pixels, x, y, radius, border));
  });
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
  twice_with_a_workspace(statistic_workspace_bytes(task), [&](std::byte* workspace) {
    output.clear();
    enqueue_statistic(task, workspace, test_stream());
    output.expect(expected.view(), what);
  });
  output.clear();
  enqueue_direct_statistic(task, test_stream());
  output.expect(expected.view(), what + ", direct");
}

void check_all(Size size, Radius radius, Border border, int noise_bits = 8) {
  for (const Statistic statistic :
       {Statistic::mean, Statistic::threshold, Statistic::deviation, Statistic::skewness_pixel})
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
  const Image<std::uint8_t> expected = three_means(picture.view(), boxes, Border::reflect101);
  DevicePicture<std::uint8_t> input(size, 77), output(size, 0);
  input.upload(picture.view());
  const StatisticTask task{.picture = input.view()};
  twice_with_a_workspace(three_boxes_workspace_bytes(task), [&](std::byte* workspace) {
    output.clear();
    enqueue_three_boxes(task, boxes, output.view(), workspace, test_stream());
    output.expect(expected.view(), "three boxes");
  });
}

TEST(WindowStatistics, Gradient) {
  const Size size{45, 11};
  const auto dx = formula<std::int32_t>(size, [](int x, int) { return (x - 20) * 300; });
  const auto dy = formula<std::int32_t>(size, [](int, int y) { return (y - 5) * -77; });
  const auto expected = formula<std::uint8_t>(
      size, [&](int x, int y) { return gradient_pixel(dx.row(y)[x], dy.row(y)[x], 2); });
  DevicePicture<std::int32_t> in_x(size, 0), in_y(size, 0);
  in_x.upload(dx.view());
  in_y.upload(dy.view());
  DevicePicture<std::uint8_t> output(size, 0);
  gpu::enqueue_gradient(in_x.view(), in_y.view(), 2, output.view(), test_stream());
  output.expect(expected.view(), "gradient");
}

}  // namespace
}  // namespace facesat::test

#include "filters/mask.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "facesat/types.hpp"

namespace facesat {
namespace {

// As real numbers, with a sum of 1.
std::vector<double> gaussian_weights(int radius, double sigma) {
  std::vector<double> weights;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    weights.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    sum += weights.back();
  }
  for (double& weight : weights) weight *= 1 / sum;
  return weights;
}

// In 256ths, with a sum of 256.
std::vector<std::int32_t> fixed_point(const std::vector<double>& weights) {
  const std::size_t middle = weights.size() / 2;
  std::vector<std::int32_t> rounded(weights.size());
  double error = 0;
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < middle; ++i) {
    const double exact = weights[i] * 256 + error;
    const double nearest = std::nearbyint(exact);  // halves to even
    error = exact - nearest;
    rounded[i] = rounded[weights.size() - 1 - i] = static_cast<std::int32_t>(nearest);
    sum += 2 * rounded[i];
  }
  rounded[middle] = 256 - sum;
  return rounded;
}

// Row n of Pascal's triangle.
std::vector<std::int64_t> binomials(int n) {
  std::vector<std::int64_t> row{1};
  for (int i = 0; i < n; ++i) row.push_back(row.back() * (n - i) / (i + 1));
  return row;
}

}  // namespace

template <class W>
bool Mask<W>::is_ones() const {
  return std::all_of(weights.begin(), weights.end(), [](W weight) { return weight == W{1}; });
}

template <class W>
Mask<W> separable_mask(std::vector<W> row, std::vector<W> column, W divisor) {
  Mask<W> mask{{static_cast<int>(row.size() / 2), static_cast<int>(column.size() / 2)},
               {},
               std::move(row),
               std::move(column),
               divisor};
  for (const W y : mask.column)
    for (const W x : mask.row) mask.weights.push_back(x * y);
  return mask;
}

template <class W>
Mask<W> box_mask(Radius radius) {
  return separable_mask<W>(std::vector<W>(static_cast<std::size_t>(radius.columns()), W{1}),
                           std::vector<W>(static_cast<std::size_t>(radius.rows()), W{1}),
                           static_cast<W>(radius.area()));
}

template <class W>
Mask<W> gaussian_mask(int radius, double sigma) {
  if (radius < 0 || !(sigma >= 0) || std::isinf(sigma))
    throw ArgumentError(
        "a Gaussian needs a radius of at least 0, and a finite sigma of at least 0");
  const std::vector<double> weights =
      gaussian_weights(radius, sigma > 0 ? sigma : sigma_of(radius));
  if constexpr (std::is_integral_v<W>) {
    return separable_mask<W>(fixed_point(weights), fixed_point(weights), 65536);
  } else {
    const std::vector<W> rounded(weights.begin(), weights.end());
    return separable_mask<W>(rounded, rounded, 1);
  }
}

template <class W>
Mask<W> sobel_mask(int radius, bool along_x) {
  if (radius < 1 || radius > greatest_sobel_radius)
    throw ArgumentError("Sobel's derivative has a radius from 1 to 6");
  const std::vector<std::int64_t> smooth = binomials(2 * radius);
  std::vector<W> across(smooth.begin(), smooth.end()), along;
  const std::vector<std::int64_t> narrow = binomials(2 * radius - 2);
  const auto at = [&](int i) {
    return i < 0 || i >= static_cast<int>(narrow.size()) ? 0 : narrow[static_cast<std::size_t>(i)];
  };
  // A convolution runs through the weights backwards, so the positive ones come first.
  for (int i = 0; i <= 2 * radius; ++i) along.push_back(static_cast<W>(at(i) - at(i - 2)));
  return along_x ? separable_mask<W>(along, across, 1) : separable_mask<W>(across, along, 1);
}

ThreeBoxes three_boxes(double sigma) {
  if (!(sigma > 0) || sigma > 1000)
    throw ArgumentError("three boxes need a sigma above 0, at most 1000");
  // The variance of n boxes of width w is n (w^2 - 1) / 12. The widths are the two odd numbers
  // around the ideal one, the smaller one `narrow` times.
  const double ideal = std::sqrt(12 * sigma * sigma / 3 + 1);
  int width = static_cast<int>(std::floor(ideal));
  if (width % 2 == 0) --width;
  const double narrow = std::round((12 * sigma * sigma - 3.0 * width * width - 12.0 * width - 9) /
                                   (-4.0 * width - 4));
  ThreeBoxes boxes{};
  for (int i = 0; i < 3; ++i) boxes.radius[i] = (width + (i < narrow ? 0 : 2)) / 2;
  return boxes;
}

template struct Mask<std::int32_t>;
template struct Mask<float>;
template Mask<std::int32_t> separable_mask(std::vector<std::int32_t>, std::vector<std::int32_t>,
                                           std::int32_t);
template Mask<float> separable_mask(std::vector<float>, std::vector<float>, float);
template Mask<std::int32_t> box_mask(Radius);
template Mask<float> box_mask(Radius);
template Mask<std::int32_t> gaussian_mask(int, double);
template Mask<float> gaussian_mask(int, double);
template Mask<std::int32_t> sobel_mask(int, bool);
template Mask<float> sobel_mask(int, bool);

}  // namespace facesat

// The weights of a convolution.
#pragma once

#include <cstdint>
#include <vector>

namespace facesat {

struct Radius {
  int x = 0, y = 0;

  constexpr int columns() const { return 2 * x + 1; }
  constexpr int rows() const { return 2 * y + 1; }
  constexpr std::int64_t area() const { return std::int64_t{columns()} * rows(); }
};

// W: std::int32_t for pictures of integers, float for those of real numbers.
// Of windows and masks; up to it, windows of 8-bit pixels have sums below 2^31.
inline constexpr int greatest_filter_radius = 1450;

template <class W>
struct Mask {
  Radius radius;
  std::vector<W> weights;      // radius.rows() rows of radius.columns() weights
  std::vector<W> row, column;  // factors: weight (x, y) is row[x] * column[y]; or both empty
  W divisor = 1;               // of the sum, where the result is a pixel

  bool is_separable() const { return !row.empty(); }
  bool is_ones() const;  // every weight is 1: a box
};

// The mask of weights row[x] * column[y]. Both have an odd number of elements.
template <class W>
Mask<W> separable_mask(std::vector<W> row, std::vector<W> column, W divisor);

// A box, whose result is the mean.
template <class W>
Mask<W> box_mask(Radius radius);

// For integers, weights of 8 fractional bits whose sum is exactly 256 in each direction, and the
// divisor 65536; with them convolutions of 8-bit pictures give the bits of OpenCV's GaussianBlur.
// For real numbers, weights whose sum is 1. A sigma that is 0 stands for OpenCV's choice,
// 0.3 (radius - 1) + 0.8. Throws ArgumentError unless 0 <= radius and sigma is finite and not
// negative.
// Source: OpenCV 4.6, getGaussianKernel; its fixed point rounds each weight together with the error
// of the one before.
template <class W>
Mask<W> gaussian_mask(int radius, double sigma = 0);

// Sobel's derivative along x (or y): binomial weights across it, and their differences along it.
// Weights run backwards, as convolutions need them: bright pixels on the right (below) give
// positive sums. Throws ArgumentError unless the radius is from 1 to greatest_sobel_radius, up to
// which sums of 8-bit pictures have 32 bits. Source: OpenCV 4.6, getDerivKernels.
inline constexpr int greatest_sobel_radius = 6;
template <class W>
Mask<W> sobel_mask(int radius, bool along_x);

// Three boxes one after the other that approximate a Gaussian of this sigma: their radii.
// Source: P. Kovesi, "Fast almost-Gaussian filtering", DICTA 2010.
struct ThreeBoxes {
  int radius[3];
};
ThreeBoxes three_boxes(double sigma);

// The sigma that gaussian_mask takes for 0.
constexpr double sigma_of(int radius) {
  return 0.3 * (radius - 1) + 0.8;
}

}  // namespace facesat

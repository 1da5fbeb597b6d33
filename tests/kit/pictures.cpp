#include "tests/kit/pictures.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace facesat::test {
namespace {

// The mean of the pixels at most `radius` away in both axes.
Image<std::uint8_t> blurred(const Image<std::uint8_t>& picture, int radius) {
  const auto [width, height] = picture.size();
  const int right = width - 1, bottom = height - 1;
  return formula<std::uint8_t>(picture.size(), [&, right, bottom](int x, int y) {
    int sum = 0, count = 0;
    for (int v = std::max(0, y - radius); v <= std::min(bottom, y + radius); ++v)
      for (int u = std::max(0, x - radius); u <= std::min(right, x + radius); ++u, ++count)
        sum += picture.row(v)[u];
    return sum / count;
  });
}

// Is (x, y) inside the ellipse around (0, 0) with half axes a and b?
bool in_ellipse(int x, int y, int a, int b) {
  return x * x * b * b + y * y * a * a <= a * a * b * b;
}

// The pixel of a face of radius r at (x, y) relative to its centre; -1 outside the face.
int face_pixel(int x, int y, int r) {
  const int side = std::abs(x);
  if (in_ellipse(side - r * 2 / 5, y + r / 3, std::max(1, r / 4), std::max(1, r / 7))) return 40;
  if (std::abs(y + r / 2) <= 1 && side > r / 5 && side < r * 3 / 5) return 90;
  if (in_ellipse(x, y - r * 3 / 5, std::max(1, r / 3), std::max(1, r / 9))) return 80;
  if (side <= 1 && y >= 0 && y <= r / 4) return 140;
  return in_ellipse(x, y, r, r * 5 / 4) ? 190 : -1;
}

}  // namespace

Image<std::uint8_t> noise(Size size, unsigned seed, int low, int high) {
  std::mt19937 random(seed);
  return formula<std::uint8_t>(
      size, [&](int, int) { return low + static_cast<int>(random() % (high - low)); });
}

Image<Bgr> colour_noise(Size size, unsigned seed) {
  std::mt19937 random(seed);
  const auto byte = [&] { return static_cast<std::uint8_t>(random() % 256); };
  return formula<Bgr>(size, [&](int, int) { return Bgr{byte(), byte(), byte()}; });
}

Image<std::uint8_t> flat(Size size, std::uint8_t value) {
  return formula<std::uint8_t>(size, [&](int, int) { return value; });
}

Image<std::uint8_t> clouds(Size size, unsigned seed, int radius) {
  const Image<std::uint8_t> soft = blurred(noise(size, seed), radius);
  int low = 255, high = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      low = std::min<int>(low, soft.row(y)[x]);
      high = std::max<int>(high, soft.row(y)[x]);
    }
  return formula<std::uint8_t>(
      size, [&](int x, int y) { return (soft.row(y)[x] - low) * 255 / std::max(1, high - low); });
}

Image<std::uint8_t> drawn_faces(Size size) {
  Image<std::uint8_t> picture =
      formula<std::uint8_t>(size, [](int x, int y) { return 90 + (x + 2 * y) % 40; });
  int left = 6;
  for (int r = 14; left + 2 * r < size.width; left += 2 * r + 8, r += 9)
    for (int y = 0; y < size.height; ++y)
      for (int x = left; x <= left + 2 * r; ++x)
        if (const int value = face_pixel(x - left - r, y - size.height / 2, r); value >= 0)
          picture.row(y)[x] = static_cast<std::uint8_t>(value);
  return blurred(picture, 1);
}

Image<Bgr> coloured(View<const std::uint8_t> gray) {
  return formula<Bgr>(gray.size, [&](int x, int y) {
    const std::uint8_t v = gray.row(y)[x];
    return Bgr{v, v, v};
  });
}

}  // namespace facesat::test

// Draws faces for tests of the program, which so need no picture files. A face is simple enough for
// a formula, and good enough for the default cascade to find it.
#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace facesat::test {

// 1 inside the ellipse with centre (cx, cy) and half axes rx and ry, 0 outside. In between is a
// soft edge of `soft` times the half axes.
inline double ellipse(double x, double y, double cx, double cy, double rx, double ry,
                      double soft = 0.25) {
  const double d = std::hypot((x - cx) / rx, (y - cy) / ry);
  return std::min(1.0, std::max(0.0, (1 + soft - d) / soft));
}

// Brightness of a face of radius 1 around (0, 0).
inline double face_brightness(double x, double y) {
  double v = 70;
  v += (205 - v) * ellipse(x, y, 0, 0.05, 0.85, 1.1);
  for (const double side : {-1.0, 1.0}) {
    v += (95 - v) * ellipse(x, y, side * 0.37, -0.36, 0.27, 0.06);      // brow
    v += (60 - v) * ellipse(x, y, side * 0.37, -0.18, 0.22, 0.09);      // eye
    v += (120 - v) * 0.6 * ellipse(x, y, side * 0.1, 0.3, 0.06, 0.05);  // nostril
  }
  v += (100 - v) * ellipse(x, y, 0, 0.62, 0.33, 0.07);  // mouth
  return v;
}

// A grey picture with one face of the given radius at each centre.
struct FaceAt {
  int x, y, radius;
};
inline Image<std::uint8_t> draw_faces(Size size, const std::vector<FaceAt>& faces) {
  Image<std::uint8_t> picture(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      double v = 70;
      for (const FaceAt& f : faces)
        if (std::abs(x - f.x) < 1.1 * f.radius && std::abs(y - f.y) < 1.5 * f.radius)
          v = face_brightness(static_cast<double>(x - f.x) / f.radius,
                              static_cast<double>(y - f.y) / f.radius);
      picture.row(y)[x] = static_cast<std::uint8_t>(v);
    }
  return picture;
}

// Writes a PGM file and creates its folders.
inline void write_pgm(const std::filesystem::path& file, const Image<std::uint8_t>& picture) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << "P5\n" << picture.size().width << " " << picture.size().height << "\n255\n";
  for (int y = 0; y < picture.size().height; ++y)
    out.write(reinterpret_cast<const char*>(picture.row(y)), picture.size().width);
}

}  // namespace facesat::test

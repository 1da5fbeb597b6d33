// Makes the README's picture with the program's own stages: faces found, the integral image (summed
// area table), how many stages each window passes, and the atlas of all levels. The faces are drawn
// by a formula.
#include <algorithm>
#include <cmath>

#include "cascades/cascade_store.hpp"
#include "core/frame_detector.hpp"
#include "facesat.hpp"
#include "kernels/image/atlas.hpp"
#include "media/codec.hpp"
#include "results/annotate.hpp"
#include "tests/kit/drawn_face.hpp"

namespace facesat {
namespace {

constexpr Size frame_size{360, 180};
constexpr int gap = 8;

Bgr grey(std::uint8_t v) {
  return {v, v, v};
}

// From blue through green and yellow to red, for t from 0 to 1.
Bgr false_colour(double t) {
  const auto channel = [](double v) {
    return static_cast<std::uint8_t>(255 * std::clamp(1.5 - std::abs(v), 0.0, 1.0));
  };
  return {channel(4 * t - 1), channel(4 * t - 2), channel(4 * t - 3)};
}

template <class Colour>
void paint(View<Bgr> canvas, int left, int top, Size size, Colour colour) {
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) canvas.row(top + y)[left + x] = colour(x, y);
}

Image<Bgr> draw(FrameDetector& detector, View<const std::uint8_t> frame) {
  std::vector<Face> faces;
  for (const Face& face : detector.detect(frame)) faces.push_back({face});
  const Pyramid& pyramid = detector.pyramid();
  Backend& backend = detector.backend();
  const gpu::AtlasPlan plan = gpu::plan_atlas(pyramid);
  const Size atlas = plan.largest();
  const int panel = frame_size.height + gap;
  Image<Bgr> picture(
      {2 * frame_size.width + 3 * gap, std::max(3 * panel, atlas.height + gap) + gap});
  const View<Bgr> canvas = picture.view();
  paint(canvas, 0, 0, canvas.size, [](int, int) { return grey(24); });

  paint(canvas, gap, gap, frame_size, [&](int x, int y) { return grey(frame.row(y)[x]); });
  const Image<Bgr> boxed = with_boxes(
      View<const Bgr>(canvas.sub({gap, gap, frame_size.width, frame_size.height})), faces);
  copy(boxed.view(), canvas.sub({gap, gap, frame_size.width, frame_size.height}));

  const Image<std::uint32_t> sum = backend.snapshot(Snapshot::sum, 0);
  const double last = sum.row(frame_size.height - 1)[frame_size.width - 1];
  paint(canvas, gap, gap + panel, frame_size,
        [&](int x, int y) { return false_colour(sum.row(y)[x] / last); });

  const Image<std::uint32_t> depth = backend.snapshot(Snapshot::depth, 0);
  const int step = pyramid.levels[0].step;
  const auto stages = static_cast<double>(detector.cascade().stages.size());
  const Size window = pyramid.window;
  paint(canvas, gap, gap + 2 * panel, frame_size,
        [&](int x, int y) {  // a window's colour is at its centre
          const int column = (x - window.width / 2) / step, row = (y - window.height / 2) / step;
          if (x < window.width / 2 || y < window.height / 2 || column >= depth.size().width ||
              row >= depth.size().height)
            return grey(24);
          return false_colour(std::sqrt(depth.row(row)[column] / stages));
        });

  for (int i = 0; i < static_cast<int>(pyramid.levels.size()); ++i) {
    const Rect place = plan.rectangle(pyramid, i);
    const Image<std::uint32_t> pixels = backend.snapshot(Snapshot::level, i);
    paint(canvas, frame_size.width + 2 * gap + place.x, gap + place.y, {place.width, place.height},
          [&](int x, int y) { return grey(static_cast<std::uint8_t>(pixels.row(y)[x])); });
  }
  return picture;
}

}  // namespace
}  // namespace facesat

int main(int argc, char** argv) {
  using namespace facesat;
  if (argc != 2) return 2;
  const Image<std::uint8_t> frame = test::draw_faces(
      frame_size,
      {{50, 92, 36}, {124, 56, 22}, {200, 100, 42}, {314, 106, 34}, {268, 38, 17}, {112, 146, 16}});
  DetectOptions options;
  options.scale_factor = 1.25;
  FrameDetector detector(find_cascade(std::string(default_cascade_name)), options,
                         make_cpu_backend());
  write_picture(argv[1], draw(detector, frame.view()).view());
  return 0;
}

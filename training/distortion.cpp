#include "training/distortion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/resample.hpp"
#include "training/shuffle.hpp"

namespace facesat::training {
namespace {

using Gray = Image<std::uint8_t>;
using GrayView = View<const std::uint8_t>;

// ---- mappings of the plane

struct Point {
  double x = 0, y = 0;
};

// Maps (x, y) to (X/W, Y/W), where (X, Y, W) = m (x, y, 1).
struct Projection {
  std::array<std::array<double, 3>, 3> m;

  Point operator()(Point p) const {
    const auto row = [&](int i) { return m[i][0] * p.x + m[i][1] * p.y + m[i][2]; };
    return {row(0) / row(2), row(1) / row(2)};
  }
  // Up to a factor, which changes nothing.
  Projection inverse() const {
    const auto minor = [&](int i, int j) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      return m[a][c] * m[b][d] - m[a][d] * m[b][c];
    };
    Projection result{};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) result.m[j][i] = minor(i, j);
    return result;
  }
};

// As libraries round sines in different ways.
double to_20_bits(double number) {
  return std::round(number * 0x1p20) / 0x1p20;
}

struct Turn {
  explicit Turn(double angle)
      : cos(to_20_bits(std::cos(angle))), sin(to_20_bits(std::sin(angle))) {}
  double cos, sin;
};

// ---- reading between pixels

// The value at a point of a picture whose pixel (x, y) has its middle at (x + 0.5, y + 0.5), in
// units of 1/65536. Edges are repeated.
std::int64_t bilinear(GrayView picture, Point p) {
  constexpr double far = 1e6;
  const auto position = [=](double x) {
    return static_cast<std::int64_t>(std::floor((std::clamp(x, -far, far) - 0.5) * 256 + 0.5));
  };
  const std::int64_t x = position(p.x), y = position(p.y);
  const int left = static_cast<int>(x >> 8), top = static_cast<int>(y >> 8);
  const std::int64_t right_weight = x & 255, bottom_weight = y & 255;
  const auto pixel = [&](int column, int row) -> std::int64_t {
    return picture.row(
        std::clamp(row, 0, picture.size.height - 1))[std::clamp(column, 0, picture.size.width - 1)];
  };
  const auto across = [&](int row) {
    return pixel(left, row) * (256 - right_weight) + pixel(left + 1, row) * right_weight;
  };
  return across(top) * (256 - bottom_weight) + across(top + 1) * bottom_weight;
}

// Every pixel is the mean of 2 x 2 points, so that a picture may have twice the size of what is
// drawn from it.
constexpr int points = 2;

// Calls use(point) with the points of a pixel.
template <class Use>
void for_points(int x, int y, Use use) {
  for (int i = 0; i < points; ++i)
    for (int j = 0; j < points; ++j) use(Point{x + (j + 0.5) / points, y + (i + 0.5) / points});
}

// Shrinks what is drawn to twice the window, so that reading between its pixels does not alias.
Size drawn_size(const Rect& region, const Rect& box, Size window) {
  const auto side = [](int whole, int object, int goal) {
    const int most = points * goal;
    if (object <= most) return whole;
    return std::max(1, static_cast<int>(std::int64_t{whole} * most / object));
  };
  return {side(region.width, box.width, window.width),
          side(region.height, box.height, window.height)};
}

// ---- values

std::uint8_t to_pixel(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

using Values = std::array<std::uint8_t, 256>;  // of pixels that had the value of the index

Values random_values(const SampleOptions& options, Random& random) {
  const double added = random.within(options.brightness), stretch = random.within(options.contrast);
  const double factor = stretch >= 0 ? 1 + stretch : 1 / (1 - stretch);
  constexpr int middle = 128;
  Values values;
  for (int i = 0; i < 256; ++i) values[i] = to_pixel((i - middle) * factor + middle + added);
  return values;
}

Values random_values(const DistortionOptions& options, Random& random) {
  const int added = random.whole(-options.intensity, options.intensity);
  const bool is_inverted = options.inverted_at_random ? random.coin() : options.inverted;
  Values values;
  for (int i = 0; i < 256; ++i) values[i] = to_pixel((is_inverted ? 255 - i : i) + added);
  return values;
}

void map_pixels(Gray& picture, const Values& values) {
  for (int y = 0; y < picture.size().height; ++y)
    for (int x = 0; x < picture.size().width; ++x) {
      std::uint8_t& pixel = picture.row(y)[x];
      pixel = values[pixel];
    }
}

// 255 where the picture is opaque, 0 where it is transparent.
Gray opacity(GrayView picture, const Rect& box, const DistortionOptions& options) {
  Gray mask({box.width, box.height});
  for (int y = 0; y < box.height; ++y)
    for (int x = 0; x < box.width; ++x) {
      const int value = picture.row(std::clamp(
          box.y + y, 0, picture.size.height - 1))[std::clamp(box.x + x, 0, picture.size.width - 1)];
      const bool is_transparent =
          options.transparent && std::abs(value - *options.transparent) <= options.tolerance;
      mask.row(y)[x] = is_transparent ? 0 : 255;
    }
  return mask;
}

// ---- the turn in space

// Maps the plane of the object, whose middle is (0, 0), to the plane in which it is seen.
Projection random_view(Size window, const DistortionOptions& options, Random& random) {
  const Turn x(random.within(options.max_x_angle)), y(random.within(options.max_y_angle)),
      z(random.within(options.max_z_angle));
  const double distance = 3.0 * std::max(window.width, window.height);
  // The first two columns of the turns around x, y and z, in this order.
  const double across[] = {z.cos * y.cos, z.sin * y.cos, -y.sin};
  const double down[] = {z.cos * y.sin * x.sin - z.sin * x.cos,
                         z.sin * y.sin * x.sin + z.cos * x.cos, y.cos * x.sin};
  return {{{{distance * across[0], distance * down[0], 0},
            {distance * across[1], distance * down[1], 0},
            {across[2], down[2], distance}}}};
}

// Where the window lies in the plane in which an object of its size is seen: around the object,
// with the window's aspect ratio.
struct Bounds {
  Bounds(const Projection& view, Size window) {
    const double right = window.width / 2.0, bottom = window.height / 2.0;
    Point least{1e9, 1e9}, most{-1e9, -1e9};
    for (const Point corner :
         {Point{-right, -bottom}, {right, -bottom}, {-right, bottom}, {right, bottom}}) {
      const auto [x, y] = view(corner);
      least = {std::min(least.x, x), std::min(least.y, y)};
      most = {std::max(most.x, x), std::max(most.y, y)};
    }
    scale = std::max((most.x - least.x) / window.width, (most.y - least.y) / window.height);
    origin = {(least.x + most.x) / 2 - scale * right, (least.y + most.y) / 2 - scale * bottom};
  }
  Point operator()(Point in_window) const {
    return {origin.x + scale * in_window.x, origin.y + scale * in_window.y};
  }

  Point origin;
  double scale = 1;
};

}  // namespace

Random::Random(std::initializer_list<std::uint64_t> seeds) {
  std::uint64_t all = 0;
  for (const std::uint64_t seed : seeds) all = mixed(all ^ seed);
  engine_.seed(all);
}

double Random::fraction() {
  return static_cast<double>(engine_() >> 11) * 0x1p-53;
}

double Random::within(double most) {
  return (2 * fraction() - 1) * most;
}

int Random::whole(int least, int most) {
  const auto count = static_cast<std::uint64_t>(std::int64_t{most} - least + 1);
  return static_cast<int>(least + static_cast<std::int64_t>(engine_() % count));
}

Gray random_copy(GrayView picture, const Rect& box, const SampleOptions& options, Random& random) {
  const Size window = options.window;
  const Turn turn(random.within(options.turn) * std::numbers::pi / 180);
  const double growth = random.within(options.scale),
               scale = growth >= 0 ? 1 + growth : 1 / (1 - growth);
  const Point shift{random.within(options.shift) * box.width,
                    random.within(options.shift) * box.height};
  const Values values = random_values(options, random);
  // From a point of the window, from 0 to 1, to the picture.
  const Point middle{box.x + box.width / 2.0 + shift.x, box.y + box.height / 2.0 + shift.y};
  const auto place = [&](Point p) {
    const double x = (p.x - 0.5) * box.width * scale, y = (p.y - 0.5) * box.height * scale;
    return Point{middle.x + turn.cos * x - turn.sin * y, middle.y + turn.sin * x + turn.cos * y};
  };
  Point least{1e9, 1e9}, most{-1e9, -1e9};
  for (const Point corner : {Point{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
    const auto [x, y] = place(corner);
    least = {std::min(least.x, x), std::min(least.y, y)};
    most = {std::max(most.x, x), std::max(most.y, y)};
  }
  const int left = static_cast<int>(std::floor(least.x)) - 1,
            top = static_cast<int>(std::floor(least.y)) - 1;
  const Rect region{left, top, static_cast<int>(std::ceil(most.x)) + 1 - left,
                    static_cast<int>(std::ceil(most.y)) + 1 - top};
  const Size size = drawn_size(region, box, window);
  const Gray drawn = resampled(picture, region, size);
  const double across = static_cast<double>(size.width) / region.width,
               down = static_cast<double>(size.height) / region.height;
  Gray copy(window);
  for (int y = 0; y < window.height; ++y)
    for (int x = 0; x < window.width; ++x) {
      std::int64_t sum = 0;
      for_points(x, y, [&](Point p) {
        const Point at = place({p.x / window.width, p.y / window.height});
        sum += bilinear(drawn.view(), {(at.x - region.x) * across, (at.y - region.y) * down});
      });
      constexpr std::int64_t total = std::int64_t{points} * points << 16;
      copy.row(y)[x] = static_cast<std::uint8_t>((sum + total / 2) / total);
    }
  map_pixels(copy, values);
  return copy;
}

Gray distorted(GrayView picture, const Rect& box, GrayView background,
               const DistortionOptions& options, Random& random) {
  const Size window = background.size, size = drawn_size(box, box, window);
  Gray object = resampled(picture, box, size);
  const Gray mask =
      resampled(opacity(picture, box, options).view(), {0, 0, box.width, box.height}, size);
  const Projection view = random_view(window, options, random), to_object = view.inverse();
  const Bounds frame(view, window);
  map_pixels(object, random_values(options, random));
  Gray sample(window);
  for (int y = 0; y < window.height; ++y)
    for (int x = 0; x < window.width; ++x) {
      std::int64_t sum = 0;  // of values times opacity, in units of 2^-16
      for_points(x, y, [&](Point p) {
        const Point seen = to_object(frame(p));
        const Point at{(seen.x / window.width + 0.5) * size.width,
                       (seen.y / window.height + 0.5) * size.height};
        const bool is_object = at.x >= 0 && at.x <= size.width && at.y >= 0 && at.y <= size.height;
        const std::int64_t opaque = is_object ? bilinear(mask.view(), at) >> 16 : 0,
                           value = is_object ? bilinear(object.view(), at) : 0;
        sum += value * opaque + (std::int64_t{background.row(y)[x]} << 16) * (255 - opaque);
      });
      constexpr std::int64_t total = (std::int64_t{points} * points * 255) << 16;
      sample.row(y)[x] = static_cast<std::uint8_t>((sum + total / 2) / total);
    }
  return sample;
}

Gray random_part(GrayView picture, Size window, Random& random) {
  const double largest = std::min(static_cast<double>(picture.size.width) / window.width,
                                  static_cast<double>(picture.size.height) / window.height),
               scale = 1 + random.fraction() * (largest - 1);
  const int width = std::clamp(static_cast<int>(window.width * scale), 1, picture.size.width),
            height = std::clamp(static_cast<int>(window.height * scale), 1, picture.size.height);
  const int x = random.whole(0, picture.size.width - width),
            y = random.whole(0, picture.size.height - height);
  return resampled(picture, {x, y, width, height}, window);
}

Gray mirrored(GrayView picture) {
  Gray result(picture.size);
  for (int y = 0; y < picture.size.height; ++y)
    std::reverse_copy(picture.row(y), picture.row(y) + picture.size.width, result.row(y));
  return result;
}

}  // namespace facesat::training

#include "tests/kit/train_sets.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "media/codec.hpp"
#include "support/files.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::test {
namespace {

using Gray = View<const std::uint8_t>;

// How much [i * length, (i + 1) * length) and [k * other, (k + 1) * other) have in common.
int overlap(int i, int length, int k, int other) {
  return std::max(0, std::min((i + 1) * length, (k + 1) * other) - std::max(i * length, k * other));
}

// Each pixel is the mean of the area that it covers, in whole numbers, halves rounded up.
Image<std::uint8_t> area_resized(Gray from, Size to) {
  const auto [width, height] = from.size;
  return formula<std::uint8_t>(to, [&, width = width, height = height](int x, int y) {
    std::int64_t sum = 0;
    for (int v = y * height / to.height; v * to.height < (y + 1) * height; ++v)
      for (int u = x * width / to.width; u * to.width < (x + 1) * width; ++u)
        sum += std::int64_t{overlap(y, height, v, to.height)} * overlap(x, width, u, to.width) *
               from.row(v)[u];
    const std::int64_t area = std::int64_t{width} * height;
    return (sum + area / 2) / area;
  });
}

Picture read_gray(const std::filesystem::path& file) {
  Picture picture = read_picture(file, {}, Reading::luma);
  if (!picture.luma.data) throw std::runtime_error(file.string() + ": not a grey JPEG");
  return picture;
}

// The first `count` boxes of a list whose lines are: path, number of boxes, x y width height ...
std::vector<Image<std::uint8_t>> boxes(const std::filesystem::path& list, Size window,
                                       std::size_t count) {
  std::vector<Image<std::uint8_t>> samples;
  std::ifstream lines(list);
  std::string path;
  for (int n = 0; samples.size() < count && lines >> path >> n;) {
    const Picture picture = read_gray(list.parent_path() / path);
    for (Rect r; n > 0 && lines >> r.x >> r.y >> r.width >> r.height; --n)
      if (samples.size() < count) samples.push_back(area_resized(picture.luma.sub(r), window));
  }
  if (samples.size() < count) throw std::runtime_error(list.string() + ": too few boxes");
  return samples;
}

// `rounds` parts of each photograph of FOLDER/negatives.txt, at random places and of random sizes:
// one part of each photograph, then another of each, and so on.
std::vector<Image<std::uint8_t>> parts(const std::filesystem::path& folder, Size window,
                                       int rounds) {
  std::vector<Picture> pictures;
  std::ifstream names(folder / "negatives.txt");
  for (std::string name; names >> name;) pictures.push_back(read_gray(folder / name));
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  std::vector<Image<std::uint8_t>> samples;
  for (int round = 0; round < rounds; ++round)
    for (const Picture& picture : pictures) {
      const Size size = picture.size();
      // The window enlarged by tenths, as far as the picture allows.
      const int most = std::min(size.width * 10 / window.width, size.height * 10 / window.height);
      const int tenths = 10 + below(most - 9);
      const Size part{window.width * tenths / 10, window.height * tenths / 10};
      const int x = below(size.width - part.width + 1), y = below(size.height - part.height + 1);
      samples.push_back(area_resized(picture.luma.sub({x, y, part.width, part.height}), window));
    }
  return samples;
}

constexpr Size shapes_window{20, 20};

// Pictures of rectangles in multiples of 16.
class Shapes {
 public:
  enum class Letter { upright, turned, without_left_arm };

  // A T.
  Image<std::uint8_t> letter(Letter kind) {
    Image<std::uint8_t> picture = background();
    const int grey = level(9, 12), x = 7 + below(3), width = 4 + below(2);
    const int top = 2 + below(3), bar = 3 + below(2);
    const bool turned = kind == Letter::turned;
    const int left = kind == Letter::without_left_arm ? 0 : 5;
    fill(picture, {x, turned ? 4 : top, width, 16 - top}, grey);
    fill(picture, {x - left, turned ? 15 - top : top, width + left + 5, bar}, grey);
    return speckled(std::move(picture));
  }

  Image<std::uint8_t> clutter() {
    Image<std::uint8_t> picture = background();
    for (int i = 2 + below(4); i > 0; --i) {
      const int x = below(16), y = below(16), grey = level(1, 15);
      const int width = 3 + below(18 - x), height = 3 + below(18 - y);
      fill(picture, {x, y, width, height}, grey);
    }
    return speckled(std::move(picture));
  }

  int below(int n) { return static_cast<int>(random_() % n); }

 private:
  int level(int low, int high) { return 16 * (low + below(high - low + 1)); }

  Image<std::uint8_t> background() {
    return flat(shapes_window, static_cast<std::uint8_t>(level(3, 7)));
  }

  static void fill(Image<std::uint8_t>& picture, Rect r, int grey) {
    for (int y = std::max(r.y, 0); y < std::min(r.y + r.height, shapes_window.height); ++y)
      for (int x = std::max(r.x, 0); x < std::min(r.x + r.width, shapes_window.width); ++x)
        picture.row(y)[x] = static_cast<std::uint8_t>(grey);
  }

  Image<std::uint8_t> speckled(Image<std::uint8_t> picture) {
    for (int i = 0; i < 100; ++i) {
      const int x = below(shapes_window.width), y = below(shapes_window.height);
      picture.row(y)[x] = static_cast<std::uint8_t>(level(2, 13));
    }
    return picture;
  }

  std::mt19937 random_{7};
};

Image<std::uint8_t> copy_of(const Image<std::uint8_t>& picture) {
  return area_resized(picture.view(), picture.size());
}

Image<std::uint8_t> mirrored(const Image<std::uint8_t>& picture) {
  return formula<std::uint8_t>(
      picture.size(), [&](int x, int y) { return picture.row(y)[picture.size().width - 1 - x]; });
}

}  // namespace

TrainSet shapes_set() {
  TrainSet set{.name = "shapes", .window = shapes_window};
  using Letter = Shapes::Letter;
  Shapes shapes;
  // Mirrored pairs, so that a feature has the quality of the mirrored one.
  while (set.positives.size() < 220) {
    set.positives.push_back(shapes.letter(Letter::upright));
    set.positives.push_back(mirrored(set.positives.back()));
  }
  while (set.negatives.size() < 4000) {
    const std::size_t n = set.negatives.size();
    if (n % 80 == 0)
      set.negatives.push_back(copy_of(set.positives[shapes.below(200)]));
    else if (n % 100 == 6)
      set.negatives.push_back(flat(set.window, static_cast<std::uint8_t>(n / 16)));
    else if (n % 8 == 2)
      set.negatives.push_back(shapes.letter(Letter::turned));
    else if (n % 4 == 0)
      set.negatives.push_back(shapes.letter(Letter::without_left_arm));
    else
      set.negatives.push_back(shapes.clutter());
    set.negatives.push_back(mirrored(set.negatives.back()));
  }
  return set;
}

TrainSet faces_set(const std::filesystem::path& folder) {
  constexpr Size window{24, 24};
  return {.name = "faces",
          .window = window,
          .positives = boxes(folder / "faces_train.info.dat", window, 330),
          .negatives = parts(folder, window, 40)};
}

TrainSet cars_set(const std::filesystem::path& folder) {
  constexpr Size window{30, 12};
  TrainSet set{.name = "cars",
               .window = window,
               .positives = boxes(folder / "cars_train.info.dat", window, 330),
               .negatives = boxes(folder / "cars_train_background.info.dat", window, 500)};
  std::ranges::move(parts(folder, window, 30), std::back_inserter(set.negatives));
  return set;
}

std::uint64_t checksum(const TrainSet& set) {
  std::uint64_t sum = 0;
  for (const auto* samples : {&set.positives, &set.negatives})
    for (const Image<std::uint8_t>& sample : *samples)
      for (int y = 0; y < set.window.height; ++y)
        sum = facesat::checksum({reinterpret_cast<const char*>(sample.row(y)),
                                 static_cast<std::size_t>(set.window.width)},
                                sum);
  return sum;
}

}  // namespace facesat::test

// libFuzzer: any bytes as a cascade file. The parser may throw nothing but CascadeError, and the
// cascades that it accepts must be safe to evaluate.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include <tbb/global_control.h>

#include "core/frame_detector.hpp"
#include "facesat.hpp"

namespace facesat {
namespace {

constexpr Size picture_size{48, 48};

// Ends the program, which libFuzzer reports, unless `holds`.
void require(bool holds) {
  if (!holds) std::abort();
}

// Expects that a point lies in the window. Integral images extend past a window, so that no
// sanitizer would report a read outside it.
void require_corner(int x, int y, Size window) {
  require(x >= 0 && y >= 0 && x <= window.width && y <= window.height);
}

void require_inside(const Rect& r, bool tilted, Size window) {
  require_corner(r.x, r.y, window);
  if (tilted) {
    require_corner(r.x - r.height, r.y + r.height, window);
    require_corner(r.x + r.width, r.y + r.width, window);
    require_corner(r.x + r.width - r.height, r.y + r.width + r.height, window);
  } else {
    require_corner(r.x + r.width, r.y + r.height, window);
  }
}

void require_features_inside(const Cascade& cascade) {
  for (const HaarFeature& feature : cascade.haar)
    for (const HaarFeature::Part& part : feature.parts)
      require_inside(part.rect, feature.tilted, cascade.window);
  for (const LbpFeature& feature : cascade.lbp) {
    const Rect& b = feature.block;
    require_inside({b.x, b.y, 3 * b.width, 3 * b.height}, false, cascade.window);
  }
}

// Expects that every path through a tree ends and stays inside the arrays.
void require_nodes_sound(const Cascade& cascade, const Tree& tree) {
  for (int i = 0; i < tree.node_count; ++i) {
    const Node& node = cascade.nodes.at(tree.first_node + i);
    require(std::isfinite(node.threshold));
    require(node.feature >= 0 && node.feature < static_cast<int>(cascade.feature_count()));
    for (const int child : {node.left, node.right}) {
      require(child > 0 ? child > i && child < tree.node_count : -child <= tree.node_count);
      if (child <= 0) require(std::isfinite(cascade.leaves.at(tree.first_leaf - child)));
    }
  }
}

void require_trees_sound(const Cascade& cascade) {
  for (const Stage& stage : cascade.stages) {
    require(stage.tree_count > 0 && std::isfinite(stage.threshold));
    for (int i = 0; i < stage.tree_count; ++i)
      require_nodes_sound(cascade, cascade.trees.at(stage.first_tree + i));
  }
  std::size_t leaves = 0;
  for (const Tree& tree : cascade.trees) leaves += tree.node_count + 1;
  require(leaves == cascade.leaves.size());
}

Image<std::uint8_t> make_noise() {
  Image<std::uint8_t> picture(picture_size);
  std::mt19937 random(1);
  for (int y = 0; y < picture_size.height; ++y)
    for (int x = 0; x < picture_size.width; ++x)
      picture.row(y)[x] = static_cast<std::uint8_t>(random());
  return picture;
}

void evaluate(const std::shared_ptr<const Cascade>& cascade) {
  const Size window = cascade->window;
  if (window.width > picture_size.width || window.height > picture_size.height) return;
  static const Image<std::uint8_t> noise = make_noise();
  FrameDetector detector(cascade, DetectOptions{1.3, 1, {}, {}, Scan::dense, false},
                         make_cpu_backend());
  detector.detect(noise.view());
}

// ---- mutations that keep a file readable --------------------------------------------------------

bool is_part_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '.';
}

constexpr std::array<std::string_view, 24> numbers = {
    "0",   "1",          "-1",         "2",   "-2",   "3",    "4",    "5",
    "6",   "8",          "10",         "12",  "16",   "24",   "0.5",  "256",
    "-.1", "2147483647", "4294967296", "1e9", "1e30", "1e39", "-0.0", "nan"};

// Replaces the first number after a random place by one of `numbers`.
void change_number(std::string& bytes, std::mt19937& random) {
  const std::size_t start = random() % bytes.size();
  std::size_t begin = start;
  while (begin < bytes.size() && !is_part_of_number(bytes[begin])) ++begin;
  std::size_t end = begin;
  while (end < bytes.size() && is_part_of_number(bytes[end])) ++end;
  bytes.replace(begin, end - begin, numbers[random() % numbers.size()]);
}

}  // namespace
}  // namespace facesat

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  if (size == 0 || random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  facesat::change_number(bytes, random);
  const std::size_t length = std::min(bytes.size(), max_size);
  std::memcpy(data, bytes.data(), length);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // One thread, so that an input takes the same path every time.
  static const tbb::global_control alone(tbb::global_control::max_allowed_parallelism, 1);
  try {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto cascade =
        std::make_shared<const facesat::Cascade>(facesat::parse_cascade(bytes, "fuzz.cascade"));
    facesat::require_features_inside(*cascade);
    facesat::require_trees_sound(*cascade);
    facesat::evaluate(cascade);
  } catch (const facesat::CascadeError&) {
  }
  return 0;
}

// Small cascades for tests: handwritten files, one of each form, and random cascades.
#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/cascade.hpp"

namespace facesat::test {

// OpenCV's cascade for frontal faces.
inline const std::shared_ptr<const Cascade>& default_model() {
  static const std::shared_ptr<const Cascade> loaded = std::make_shared<Cascade>(
      load_cascade(FACESAT_CASCADE_DIR "/haarcascades/haarcascade_frontalface_default.xml"));
  return loaded;
}

// The files of all of OpenCV's cascades.
std::vector<std::filesystem::path> opencv_cascade_files();

// Valid cascade files. Each has a window of 12 x 10 pixels.
std::string stump_cascade();  // two stages; upright, three-part and tilted features
std::string tree_cascade();   // a tree of two nodes and a tree of one node
std::string lbp_cascade();
std::string old_cascade();  // "opencv-haar-classifier", with a tree of two nodes
// The same as stump_cascade(), with many forms that OpenCV reads in these formats.
std::string yaml_cascade();
std::string json_cascade();

// The text with its first `from` replaced by `to`. Throws std::logic_error if it has no `from`.
std::string replaced(std::string text, const std::string& from, const std::string& to);

std::string gzip(const std::string& text);  // compressed

struct CascadeShape {
  FeatureKind kind = FeatureKind::haar;
  bool tilted = false;  // every second feature is tilted
  int max_nodes = 1;    // per tree
  int tree_factor = 1;  // multiplies the number of trees in a stage
  bool empty = false;   // one rectangle in four has no width, one no height
};

// A shape with a name for the test.
struct NamedShape {
  const char* name;
  CascadeShape shape;

  friend void PrintTo(const NamedShape& one, std::ostream* out) { *out << one.name; }
};
// One for each form of cascade.
inline constexpr NamedShape cascade_shapes[] = {
    {"Stumps", {}},
    {"TiltedStumps", {.tilted = true}},
    {"Trees", {.max_nodes = 5}},
    {"TiltedTrees", {.tilted = true, .max_nodes = 3}},
    {"LbpStumps", {.kind = FeatureKind::lbp}},
    {"LbpTrees", {.kind = FeatureKind::lbp, .max_nodes = 4}},
    {"EmptyStumps", {.tilted = true, .empty = true}},
    {"EmptyLbpStumps", {.kind = FeatureKind::lbp, .empty = true}},
};

// A few stages, each of which most windows pass; the window has random sides from 8 to 15.
Cascade random_cascade(unsigned seed, const CascadeShape& shape);

// The same cascade with a window and features that are larger by a factor in each axis. Tilted
// features must not be among them.
Cascade enlarged(Cascade cascade, int across, int down);

// A cascade of one stage with one stump, whose own threshold is 0: the response is `left` for a
// window whose left half is darker than its right half, and `right` otherwise; the window passes if
// the response is not below `threshold`.
Cascade half_cascade(Size window, float left, float right, float threshold);

// ---- The parameters with which whole detectors are compared: the CPU's with OpenCV's, CUDA's with
// the CPU's

inline constexpr double factors[] = {1.05, 1.1, 1.2, 1.5, 2.0};
inline constexpr int neighbors[] = {0, 1, 3, 6};

struct SizeLimits {
  Size low, high;
};
// {0, 0} is no limit. The entry without limits is listed twice, to be frequent.
inline constexpr SizeLimits size_limits[] = {
    {{0, 0}, {0, 0}},         {{0, 0}, {0, 0}},     {{30, 30}, {0, 0}},   {{0, 0}, {60, 60}},
    {{40, 20}, {90, 120}},    {{50, 50}, {40, 40}}, {{500, 500}, {0, 0}}, {{0, 0}, {5, 5}},
    {{1000000, 1}, {0, 100}}, {{25, 0}, {0, 0}},    {{33, 33}, {33, 33}},
};

}  // namespace facesat::test

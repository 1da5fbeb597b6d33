// The model: a window, stages of boosted trees, and the features their nodes ask for.
// It says what a cascade file means, in the form that OpenCV 4.6 gives it; backends compile it into
// the layout they evaluate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"

namespace facesat {

// Whatever depends on it switches over all kinds, without a default: so the compiler finds every
// place that a new kind needs.
enum class FeatureKind { haar, lbp };
std::string_view name_of(FeatureKind kind);  // "haar", "lbp"

// What a file may have. Backends rely on both: indices within a tree fit into 16 bits, and counts
// of anything in a file into 31.
//
// Nodes of a tree: OpenCV's own files have at most 3, its trainer makes trees of 2^depth - 1 nodes,
// of depth 1 unless asked for more; this has room for depth 12. Bytes: OpenCV's largest file has
// 3 MiB.
inline constexpr int max_tree_nodes = 4096;
inline constexpr std::size_t max_cascade_bytes = 16 << 20;

// A weighted sum of two or three rectangles of the window. Tilted rectangles are turned by 45
// degrees: (x, y) is the top corner, width runs down to the right, height down to the left.
struct HaarFeature {
  struct Part {
    Rect rect;
    float weight = 0;
  };
  std::array<Part, 3> parts;  // an absent third part has weight 0
  bool tilted = false;
};

// 3 x 3 blocks, each of the size of `block`, whose top left one lies at `block`.
struct LbpFeature {
  Rect block;
};

// A decision. Haar: left if value < threshold. LBP: left if the code's bit is set in `subset`.
// left and right: the tree's node of that index if > 0, otherwise its leaf of index -left, -right.
struct Node {
  int feature = 0;
  float threshold = 0;
  std::array<std::uint32_t, 8> subset{};
  int left = 0, right = 0;
};

struct Tree {
  int first_node = 0, node_count = 0;
  int first_leaf = 0;  // node_count + 1 leaves
};

// A window passes if the sum of its trees' leaves is not below the threshold, which has OpenCV's
// margin of 1e-5 subtracted.
struct Stage {
  int first_tree = 0, tree_count = 0;
  float threshold = 0;
};

struct Cascade {
  std::string name;
  FeatureKind kind = FeatureKind::haar;
  Size window;
  std::vector<Stage> stages;
  std::vector<Tree> trees;
  std::vector<Node> nodes;
  std::vector<float> leaves;
  std::vector<HaarFeature> haar;  // one of these two is empty
  std::vector<LbpFeature> lbp;

  std::size_t feature_count() const { return haar.size() + lbp.size(); }
  bool has_tilted() const;
  bool is_stumps() const;  // no tree has more than one node
};

// Parses both formats of OpenCV: "opencv-cascade-classifier" and "opencv-haar-classifier".
// `name` becomes Cascade::name and begins every message. Throws CascadeError on anything wrong, and
// on more than the maxima above.
Cascade parse_cascade(std::string_view xml, const std::string& name);

// Reads a file and parses it; Cascade::name is the file's stem. Throws CascadeError, also for what
// is not a regular file of at most 16 MiB: pipes and devices are refused without waiting for them.
Cascade load_cascade(const std::filesystem::path& file);

}  // namespace facesat

// The model: a window size, stages of boosted trees, and the features that their nodes test. It has
// the contents of a cascade file, with the meaning that OpenCV 4.6 gives them; backends compile it
// into the layout they evaluate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"

namespace facesat {

// Code that depends on the kind switches over all kinds without a default, so that the compiler
// finds every place that a new kind must extend; or it asks traits_of(), which is such a place.
enum class FeatureKind { haar, lbp };
inline constexpr std::array feature_kinds{FeatureKind::haar, FeatureKind::lbp};

struct FeatureTraits {
  std::string_view name;           // "haar", "lbp"
  std::string_view type_in_files;  // <featureType> in OpenCV's files
  bool squares;                    // are windows normalised, by the squared integral image?
  std::size_t subset_words;        // of Node::subset, that a node test has; 0: it has a threshold
};

constexpr FeatureTraits traits_of(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::haar:
      return {"haar", "HAAR", true, 0};
    case FeatureKind::lbp:
      return {"lbp", "LBP", false, 8};
  }
  throw std::logic_error("unknown kind of feature");
}
constexpr std::string_view name_of(FeatureKind kind) {
  return traits_of(kind).name;
}

// Limits of a cascade file. Thanks to the first, indices within a tree fit into 16 bits; thanks to
// the second, every count in a file fits into 31 bits. Backends rely on both.
//
// Trees of OpenCV's own files have at most 3 nodes. Its trainer makes trees of up to 2^depth - 1
// nodes, with a default depth of 1; this limit allows depth 12. OpenCV's largest file has 3 MiB.
inline constexpr int max_tree_nodes = 4096;
inline constexpr std::size_t max_cascade_bytes = 16 << 20;

// A weighted sum of two or three rectangles of the window. Tilted rectangles are rotated by 45
// degrees: (x, y) is the top corner, width runs down to the right, height down to the left.
struct HaarFeature {
  struct Part {
    Rect rect;
    float weight = 0;
  };
  std::array<Part, 3> parts;  // an absent third part has weight 0
  bool tilted = false;
};

// A grid of 3 x 3 blocks of equal size; `block` is the top left one.
struct LbpFeature {
  Rect block;
};

// A node test. Haar: left if value < threshold. LBP: left if the code's bit is set in `subset`.
// left, right: the index of a node of the same tree if > 0; otherwise minus the index of a leaf.
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

// What OpenCV subtracts, in f32, from the threshold of a stage in the file.
inline constexpr float stage_margin = 1e-5f;

// A window passes if the sum of the leaves that it reaches, one per tree, is not below `threshold`,
// from which stage_margin is already subtracted.
struct Stage {
  int first_tree = 0, tree_count = 0;
  float threshold = 0;
};

struct Cascade {
  std::string name;
  bool was_old = false;  // read from a file of the old format
  FeatureKind kind = FeatureKind::haar;
  Size window;
  std::vector<Stage> stages;
  std::vector<Tree> trees;
  std::vector<Node> nodes;
  std::vector<float> leaves;
  std::vector<HaarFeature> haar;  // the features of `kind`; the other one is empty
  std::vector<LbpFeature> lbp;
  // Sentences about what suggests that the file is damaged, although OpenCV loads it, too: a few of
  // them if there are many. Each begins with the file's name and the line.
  std::vector<std::string> warnings;

  std::size_t feature_count() const {
    switch (kind) {
      case FeatureKind::haar:
        return haar.size();
      case FeatureKind::lbp:
        return lbp.size();
    }
    throw std::logic_error("unknown kind of feature");
  }
  bool has_tilted() const;
  bool is_stumps() const;  // no tree has more than one node
};

// Parses the contents of a cascade file: both formats of OpenCV's cascades, in XML, YAML or JSON,
// compressed by gzip or not. The head of cascade_parser.cpp has the rule of what is accepted.
// `name` becomes Cascade::name and begins every message. Throws CascadeError on any fault, and on a
// file that exceeds the limits above.
Cascade parse_cascade(std::string_view bytes, const std::string& name);

// The text of a file "opencv-cascade-classifier" that parse_cascade() reads as the same cascade.
// `comment`: lines for its reader, without "--".
std::string to_xml(const Cascade& cascade, std::string_view comment = {});

// Reads a file and parses it; Cascade::name is the file's name without its extension. Throws
// CascadeError, also for anything but a regular file of at most 16 MiB: pipes and devices are
// refused without waiting for them.
Cascade load_cascade(const std::filesystem::path& file);

}  // namespace facesat

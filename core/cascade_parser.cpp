// Reads the two formats of OpenCV's cascades. Which one a file has is said by neither the name nor
// the type of its first element: as in OpenCV, it is the new format ("opencv-cascade-classifier")
// if it can be read as such, and otherwise the old one ("opencv-haar-classifier").
//
// The rule: a file that OpenCV 4.6 loads is loaded, with the same meaning, and a file that OpenCV
// refuses is refused, except that the following are refused, too:
// - What makes OpenCV read or write outside of its arrays, or walk for ever: more than three
//   rectangles in a feature; features that reach outside the window (OpenCV checks them as if they
//   were upright and had one block) or have a negative side; trees without nodes, with a part of a
//   node, or with another number of leaves than one more than their nodes (from there on, trees
//   would have the nodes and leaves of others); nodes that lead to themselves, to an earlier node
//   or outside their tree; features that do not exist; LBP nodes with less than 256 codes.
// - What is no number where one is needed: infinite and undefined numbers, those too large for f32,
//   words, sequences (all of which OpenCV takes as 2147483647 or the largest f32); where a whole
//   number is needed, real ones beyond 32 bits (OpenCV: -2147483648).
// - What exceeds a limit: files larger than 16 MiB, trees of more than 4096 nodes, windows whose
//   sums do not fit into 32 bits, Haar windows smaller than 3 x 3 pixels (in which OpenCV finds
//   nothing), cascades without features.
// - What core/cascade_storage.hpp lists.
// Counts of stages and trees are redundant and may be wrong; numbers that are missing are 0, those
// too many are ignored, and fractions are rounded where whole numbers are needed. Cascade::warnings
// names what suggests that a file is damaged.
//
// Every number goes decimal -> f64 -> f32, as in OpenCV, and everything a backend relies on is
// checked here.
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "core/cascade.hpp"
#include "core/cascade_storage.hpp"

namespace facesat {
namespace {

static_assert(max_cascade_bytes < INT32_MAX, "every count of something in a file is an int");

// A fault for which OpenCV tries the old format next.
struct NotTheNewFormat : CascadeError {
  using CascadeError::CascadeError;
};

class Parser {
 public:
  Parser(const SourceText& source, const std::vector<StorageNode>& nodes)
      : source_(source), storage_(nodes.front()) {}

  Cascade parse() {
    const StorageValues values(storage_);
    const bool has_values = values.begin() != values.end();
    if (!has_values || (*values.begin()).kind != Kind::map)
      fail(has_values ? *values.begin() : storage_,
           "this is not one of OpenCV's cascade files: expected one with a cascade");
    const StorageNode& root = *values.begin();
    try {
      read_new_format(root);
    } catch (const NotTheNewFormat&) {
      if (!child(root, "size")) throw;
      cascade_ = {};
      read_old_format(root);
    }
    return std::move(cascade_);
  }

 private:
  using Kind = StorageNode::Kind;

  // ---- messages -------------------------------------------------------------------------------
  // With the name of the value or, if it has none, of the one around it.
  std::string message(const StorageNode& node, const std::string& what) const {
    const StorageNode* named = &node;
    while (named != &storage_ && (named->name_length == 0 || named + named->extent <= &node))
      --named;
    const std::string_view name = named->name(source_).substr(0, 64);
    return source_.message(node.offset, name.empty() ? what : fmt::format("<{}>: {}", name, what));
  }
  [[noreturn]] void fail(const StorageNode& node, const std::string& what) const {
    throw CascadeError(message(node, what));
  }
  void warn(const StorageNode& node, const std::string& what) {
    constexpr std::size_t most = 10;
    if (cascade_.warnings.size() < most)
      cascade_.warnings.push_back(message(node, what));
    else if (cascade_.warnings.size() == most)
      cascade_.warnings.push_back(fmt::format("{}: there is more of this kind", source_.name));
  }
  std::string quoted(const StorageNode& node) const {
    return fmt::format("\"{}\"", node.text(source_).substr(0, 16));
  }

  // ---- values ---------------------------------------------------------------------------------
  // The value named `name` inside `parent`; null if there is none.
  const StorageNode* child(const StorageNode& parent, std::string_view name) const {
    if (parent.kind != Kind::map) fail(parent, fmt::format("expected <{}> inside", name));
    for (const StorageNode& node : StorageValues(parent))
      if (node.name(source_) == name) return &node;
    return nullptr;
  }
  const StorageNode& need(const StorageNode& parent, std::string_view name) const {
    if (const StorageNode* const node = child(parent, name)) return *node;
    throw NotTheNewFormat(message(parent, fmt::format("expected <{}> inside", name)));
  }

  // `wraps`: a larger integer than 32 bits have may be meant to wrap around.
  double number(const StorageNode& node, bool wraps = false) {
    if (node.kind != Kind::number)
      fail(node, node.kind == Kind::word
                     ? fmt::format("expected a number, found {}", quoted(node))
                     : fmt::format("expected one number, found {}", StorageValues(node).count()));
    if (node.wrapped && !wraps)
      warn(node, fmt::format("{} does not fit into 32 bits; OpenCV takes it as {:.0f}",
                             node.text(source_).substr(0, 24), node.number));
    return node.number;
  }
  float real(const StorageNode& node) {
    const auto value = static_cast<float>(number(node));
    if (!std::isfinite(value))
      fail(node, fmt::format("{} is not a finite 32-bit float", quoted(node)));
    return value;
  }
  int integer(const StorageNode& node, bool wraps = false) {
    const double value = std::nearbyint(number(node, wraps));  // ties to even, as in OpenCV
    if (!(value >= INT32_MIN && value <= INT32_MAX))
      fail(node, fmt::format("expected a whole number of 32 bits, found {}", quoted(node)));
    return static_cast<int>(value);
  }
  int integer(const StorageNode& node, int low, int high) {
    const int value = integer(node);
    if (value < low || value > high)
      fail(node, fmt::format("expected a whole number from {} to {}, found {}", low, high, value));
    return value;
  }
  // A number that counts as 0 if it is missing.
  float real_or_zero(const StorageNode& parent, std::string_view name) {
    if (const StorageNode* const node = child(parent, name)) return real(*node);
    warn(parent, fmt::format("<{}> is missing and counts as 0", name));
    return 0;
  }
  int integer_or_zero(const StorageNode& parent, std::string_view name) {
    const StorageNode* const node = child(parent, name);
    return node ? integer(*node) : 0;
  }
  // The numbers of a rectangle, of which those missing count as 0.
  template <std::size_t n>
  std::array<const StorageNode*, n> rectangle(const StorageNode& node, const char* what) {
    std::array<const StorageNode*, n> values{};
    std::size_t count = 0;
    for (const StorageNode& value : StorageValues(node)) {
      if (count < n) values[count] = &value;
      ++count;
    }
    if (count != n) warn(node, fmt::format("expected {}, found {} numbers", what, count));
    return values;
  }
  Rect to_rect(const StorageNode* const* values) {
    const auto side = [&](int i) { return values[i] ? integer(*values[i]) : 0; };
    return {side(0), side(1), side(2), side(3)};
  }
  // Values that OpenCV takes by their index. None: they are missing.
  std::optional<StorageValues> sequence(const StorageNode* node) const {
    if (!node || node->kind == Kind::nothing) return std::nullopt;
    if (node->kind != Kind::sequence) fail(*node, "expected a sequence");
    return StorageValues(*node);
  }
  // Warns if the file states a count, in addition to the values themselves, that is another one.
  void check_stated_count(const StorageNode& parent, std::string_view name, std::size_t counted) {
    const StorageNode* const node = child(parent, name);
    if (node && !(node->kind == Kind::number && node->number == static_cast<double>(counted)))
      warn(*node, fmt::format("the file says {}, but there are {}", quoted(*node), counted));
  }

  // ---- the window and its features ------------------------------------------------------------
  void set_window(const StorageNode& node, int width, int height) {
    cascade_.window = {width, height};
    switch (cascade_.kind) {
      case FeatureKind::haar:
        if (width < 3 || height < 3)
          fail(node, fmt::format("a window of {} x {} is too small; expected 3 x 3 or more", width,
                                 height));
        return check_sums(node, {width - 2, height - 2}, 255 * 255, "without its border, ");
      case FeatureKind::lbp:
        return check_sums(node, cascade_.window, 255, "");
    }
  }
  // Sums over a window, of pixels or their squares, must stay below 2^32 for differences of
  // integral images to be exact.
  void check_sums(const StorageNode& node, Size summed, int largest, const char* part) const {
    const std::uint32_t most = UINT32_MAX / static_cast<std::uint32_t>(largest);
    if (summed.area() > most)
      fail(node,
           fmt::format("a window of {} x {} is too large; {}its area may be at most {} pixels",
                       cascade_.window.width, cascade_.window.height, part, most));
  }

  // OpenCV's checks, and that all corners lie in the window. `blocks`: in each axis, of this size.
  void check_inside(const StorageNode& node, const Rect& r, bool tilted, int blocks) const {
    const std::int64_t w = r.width, h = r.height;
    const auto [width, height] = cascade_.window;
    const bool inside = r.x >= 0 && r.y >= 0 && r.x < width && r.y < height && w >= 0 && h >= 0 &&
                        r.x + blocks * w <= width && r.y + blocks * h <= height &&
                        (!tilted || (r.x - h >= 0 && r.y + w + h <= height));
    if (!inside)
      fail(node, fmt::format("the feature reaches outside the window of {} x {}", width, height));
  }

  // `old`: of the old format, where OpenCV demands five numbers and drops a third rectangle of
  // hardly any weight.
  HaarFeature read_haar(const StorageNode& node, bool old) {
    HaarFeature feature;
    feature.tilted = integer_or_zero(node, "tilted") != 0;
    const StorageNode* const rects = child(node, "rects");
    const std::optional<StorageValues> parts = old     ? sequence(rects)
                                               : rects ? std::optional(StorageValues(*rects))
                                                       : std::nullopt;
    if (!parts || parts->begin() == parts->end()) {
      warn(node, "a feature without rectangles is always 0");
      return feature;
    }
    std::size_t count = 0;
    for (const StorageNode& part : *parts) {
      if (count == feature.parts.size()) fail(part, "expected at most 3 rectangles in a feature");
      const auto values = rectangle<5>(part, "x y width height weight");
      if (old && !(part.kind == Kind::sequence && values.back()))
        fail(part, "expected x y width height weight");
      const HaarFeature::Part read{to_rect(values.data()), values[4] ? real(*values[4]) : 0};
      const bool is_dropped = old && count == 2 && std::abs(read.weight) < FLT_EPSILON;
      if (!is_dropped) {
        check_inside(part, read.rect, feature.tilted, 1);
        feature.parts[count] = read;
      }
      ++count;
    }
    return feature;
  }

  LbpFeature read_lbp(const StorageNode& node) {
    const StorageNode* const rect = child(node, "rect");
    if (!rect) {
      warn(node, "<rect> is missing and counts as 0");
      return {};
    }
    const Rect block = to_rect(rectangle<4>(*rect, "x y width height").data());
    check_inside(*rect, block, false, 3);
    return {block};
  }

  void read_feature(const StorageNode& node) {
    switch (cascade_.kind) {
      case FeatureKind::haar:
        cascade_.haar.push_back(read_haar(node, false));
        return;
      case FeatureKind::lbp:
        cascade_.lbp.push_back(read_lbp(node));
        return;
    }
  }

  // ---- trees ----------------------------------------------------------------------------------
  void begin_tree(const StorageNode& node, std::size_t node_count) {
    if (node_count < 1 || node_count > max_tree_nodes)
      fail(node,
           fmt::format("expected 1 to {} nodes in a tree, found {}", max_tree_nodes, node_count));
    cascade_.trees.push_back({static_cast<int>(cascade_.nodes.size()), static_cast<int>(node_count),
                              static_cast<int>(cascade_.leaves.size())});
    tree_nodes_.push_back(&node);
  }

  void end_tree(const StorageNode& node) {
    const auto [unused, node_count, first_leaf] = cascade_.trees.back();
    const auto count = std::ssize(cascade_.leaves) - first_leaf;
    if (count != node_count + 1)
      fail(node, fmt::format("expected {} leaves for {} nodes, found {}", node_count + 1,
                             node_count, count));
  }

  // A child must be a node after its parent, or a leaf. So every walk through a tree ends and stays
  // inside the arrays.
  void check_children() {
    for (std::size_t t = 0; t < cascade_.trees.size(); ++t) {
      const auto [first_node, node_count, unused] = cascade_.trees[t];
      for (int i = 0; i < node_count; ++i)
        for (const int to :
             {cascade_.nodes[first_node + i].left, cascade_.nodes[first_node + i].right}) {
          if (to < -node_count || to >= node_count)
            fail(*tree_nodes_[t],
                 fmt::format("node {} leads to {}; expected a number from {} to {}", i, to,
                             -node_count, node_count - 1));
          if (to > 0 && to <= i)
            fail(*tree_nodes_[t],
                 fmt::format("node {} leads back to node {}; expected a later node or a leaf", i,
                             to));
        }
    }
  }

  // The sum of a stage without trees is 0: a stump of two leaves of 0 stands for them.
  void add_zero(const StorageNode& stage) {
    warn(stage, "a stage has no trees");
    begin_tree(stage, 1);
    cascade_.nodes.emplace_back().right = -1;
    cascade_.leaves.insert(cascade_.leaves.end(), {0, 0});
  }

  // A stage whose trees, from `first_tree` on, have been read.
  void add_stage(const StorageNode& node, std::size_t first_tree, float threshold) {
    if (cascade_.trees.size() == first_tree) add_zero(node);
    cascade_.stages.push_back({static_cast<int>(first_tree),
                               static_cast<int>(cascade_.trees.size() - first_tree),
                               threshold - stage_margin});
  }

  void finish(const StorageNode& root) {
    if (cascade_.stages.empty()) fail(root, "expected at least one stage");
    if (cascade_.feature_count() == 0) fail(root, "expected at least one feature");
    // As in OpenCV, the left leaf of a stump is the first one, whatever the node says.
    if (cascade_.is_stumps())
      for (Node& node : cascade_.nodes) node.left = 0, node.right = -1;
    else
      check_children();
  }

  // ---- opencv-cascade-classifier ---------------------------------------------------------------
  void read_new_format(const StorageNode& root) {
    read_kind(root);
    const int height = integer(need_window(root, "height"), 1, max_side);
    const StorageNode& width = need_window(root, "width");
    set_window(width, integer(width, 1, max_side), height);
    const StorageNode& parameters = need(root, "featureParams");
    const StorageNode* const stated = child(parameters, "maxCatCount");
    const int categories = stated ? integer(*stated) : 0;
    words_per_node_ = categories > 0 ? (static_cast<std::size_t>(categories) + 31) / 32 : 0;
    if (words_per_node_ < traits_of(cascade_.kind).subset_words)
      fail(stated ? *stated : parameters,
           fmt::format("expected a <maxCatCount> of 256, found {}", categories));

    const StorageNode& features = need(root, "features");
    for (const StorageNode& feature : StorageValues(features)) read_feature(feature);
    if (cascade_.feature_count() == 0) fail(features, "expected at least one feature");
    for (const StorageNode& stage : StorageValues(need(root, "stages"))) {
      const std::size_t first_tree = cascade_.trees.size();
      for (const StorageNode& tree : StorageValues(need(stage, "weakClassifiers")))
        read_new_tree(tree);
      check_stated_count(stage, "maxWeakCount", cascade_.trees.size() - first_tree);
      add_stage(stage, first_tree, real_or_zero(stage, "stageThreshold"));
    }
    check_stated_count(root, "stageNum", cascade_.stages.size());
    finish(root);
  }

  void read_kind(const StorageNode& root) {
    const StorageNode* const stage = child(root, "stageType");
    if (!stage)
      throw NotTheNewFormat(message(
          root, child(root, "size")
                    ? "expected one of OpenCV's cascades"
                    : "this is not one of OpenCV's cascade files: expected <stageType> or <size> "
                      "inside"));
    if (stage->kind != Kind::word || stage->text(source_) != "BOOST")
      throw NotTheNewFormat(
          message(*stage, fmt::format("expected BOOST, found {}", quoted(*stage))));
    const StorageNode& feature = need(root, "featureType");
    const std::string_view type =
        feature.kind == Kind::word ? feature.text(source_) : std::string_view();
    std::vector<std::string_view> known;
    for (const FeatureKind kind : feature_kinds) {
      known.push_back(traits_of(kind).type_in_files);
      if (type != known.back()) continue;
      cascade_.kind = kind;
      return;
    }
    const std::string wrong =
        fmt::format("expected {}, found {}", fmt::join(known, " or "), quoted(feature));
    if (type == "HOG") fail(feature, wrong);
    throw NotTheNewFormat(message(feature, wrong));
  }

  const StorageNode& need_window(const StorageNode& root, std::string_view name) const {
    if (const StorageNode* const node = child(root, name)) return *node;
    fail(root, fmt::format("expected <{}> inside", name));
  }

  // <internalNodes> has for each node: left, right, feature, and then a threshold or the words of a
  // set of codes. (A Haar node with codes has the threshold 0.)
  void read_new_tree(const StorageNode& tree) {
    const StorageNode &nodes = need(tree, "internalNodes"), &leaves = need(tree, "leafValues");
    const std::size_t per_node = 3 + std::max<std::size_t>(words_per_node_, 1);
    const StorageValues values(nodes);
    const std::size_t count = values.count();
    if (count == 0 || count % per_node != 0)
      fail(nodes, fmt::format("expected {} numbers for each node, found {}", per_node, count));
    begin_tree(nodes, count / per_node);
    const int features = static_cast<int>(cascade_.feature_count());
    const std::size_t subset_words = traits_of(cascade_.kind).subset_words;
    for (auto value = values.begin(); value != values.end();) {
      Node& node = cascade_.nodes.emplace_back();
      const auto next = [&]() -> const StorageNode& {
        const StorageNode& read = *value;
        ++value;
        return read;
      };
      node.left = integer(next());
      node.right = integer(next());
      node.feature = integer(next(), 0, features - 1);
      if (words_per_node_ == 0) node.threshold = real(next());
      for (std::size_t k = 0; k < words_per_node_; ++k) {
        const auto word = static_cast<std::uint32_t>(integer(next(), true));  // often unsigned
        if (k < subset_words) node.subset[k] = word;
      }
    }
    for (const StorageNode& leaf : StorageValues(leaves)) cascade_.leaves.push_back(real(leaf));
    end_tree(leaves);
  }

  // ---- opencv-haar-classifier ------------------------------------------------------------------
  // Every node has a feature of its own. <parent> and <next> of a stage are ignored, as in OpenCV,
  // because stages always follow each other in the file's order.
  void read_old_format(const StorageNode& root) {
    cascade_.was_old = true;
    const StorageNode& size = need(root, "size");
    const std::optional<StorageValues> sides = sequence(&size);
    if (!sides || sides->count() < 2) fail(size, "expected width and height");
    auto side = sides->begin();
    const int width = integer(*side, 1, max_side), height = integer(*(++side, side), 1, max_side);
    set_window(size, width, height);
    const auto values = [&](const StorageNode* node) {
      return sequence(node).value_or(StorageValues(nothing));
    };
    for (const StorageNode& stage : values(child(root, "stages"))) {
      const std::size_t first_tree = cascade_.trees.size();
      for (const StorageNode& tree : values(child(stage, "trees"))) read_old_tree(tree);
      add_stage(stage, first_tree, real_or_zero(stage, "stage_threshold"));
    }
    finish(root);
  }

  void read_old_tree(const StorageNode& tree) {
    const StorageValues nodes = sequence(&tree).value_or(StorageValues(nothing));
    begin_tree(tree, nodes.count());
    for (const StorageNode& element : nodes) {
      const StorageNode* const feature = child(element, "feature");
      if (!feature) warn(element, "<feature> is missing and counts as 0");
      Node node;
      node.feature = static_cast<int>(cascade_.haar.size());
      cascade_.haar.push_back(feature ? read_haar(*feature, true) : HaarFeature());
      node.threshold = real_or_zero(element, "threshold");
      node.left = read_old_child(element, "left");
      node.right = read_old_child(element, "right");
      cascade_.nodes.push_back(node);
    }
    end_tree(tree);
  }

  // Reads one child of a node. On the left side, <left_val> has the value of a leaf, which is
  // appended, and <left_node> the index of a node; likewise on the right side.
  int read_old_child(const StorageNode& element, const std::string& side) {
    if (const StorageNode* const leaf = child(element, side + "_val")) {
      cascade_.leaves.push_back(real(*leaf));
      return cascade_.trees.back().first_leaf + 1 - static_cast<int>(cascade_.leaves.size());
    }
    return integer_or_zero(element, side + "_node");
  }

  static constexpr int max_side = 1'000'000;  // OpenCV's
  static constexpr StorageNode nothing{};

  const SourceText& source_;
  const StorageNode& storage_;
  Cascade cascade_;
  std::size_t words_per_node_ = 0;  // of a set of codes; 0: a node has a threshold instead
  std::vector<const StorageNode*> tree_nodes_;  // where each tree has its nodes
};

}  // namespace

Cascade parse_cascade(std::string_view bytes, const std::string& name) {
  if (bytes.size() > max_cascade_bytes)
    throw CascadeError(fmt::format("{}: the file is larger than {} MiB; no cascade of OpenCV is",
                                   name, max_cascade_bytes >> 20));
  const std::string text = is_gzip(bytes) ? inflated(bytes, name, max_cascade_bytes) : "";
  const SourceText source{is_gzip(bytes) ? text : bytes, name};
  const std::vector<StorageNode> nodes = read_storage(source);
  Cascade cascade = Parser(source, nodes).parse();
  cascade.name = name;
  return cascade;
}

}  // namespace facesat

// Reads OpenCV's two cascade formats. Every number goes decimal -> f64 -> f32, as in OpenCV, and
// everything a backend relies on is checked here: features inside the window, indices in range,
// children after their parents (so that walking a tree ends), window sums below 2^32.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "core/cascade.hpp"

namespace facesat {
namespace {

static_assert(max_cascade_bytes < INT32_MAX, "every count of something in a file is an int");

class Parser {
 public:
  Parser(std::string_view xml, const std::string& name) : xml_(xml), name_(name) {}

  Cascade parse() {
    if (xml_.size() > max_cascade_bytes)
      throw CascadeError(fmt::format("{}: the file is larger than {} MiB; no cascade of OpenCV is",
                                     name_, max_cascade_bytes >> 20));
    pugi::xml_document document;
    // OpenCV does not resolve character references (&#49;) in numbers.
    constexpr unsigned syntax = pugi::parse_default & ~pugi::parse_escapes;
    const pugi::xml_parse_result result =
        document.load_buffer(xml_.data(), xml_.size(), syntax, pugi::encoding_utf8);
    if (!result)
      fail(result.offset, fmt::format("this is not well-formed XML ({}); expected one of OpenCV's "
                                      "cascade files",
                                      result.description()));
    const pugi::xml_node root = document.child("opencv_storage").first_child();
    const std::string_view type = root.attribute("type_id").value();
    if (type == "opencv-cascade-classifier" ||
        (type.empty() && root.name() == std::string_view("cascade")))
      read_new_format(root);
    else if (type == "opencv-haar-classifier")
      read_old_format(root);
    else
      fail(root,
           "this is not one of OpenCV's cascade files: expected <opencv_storage> with <cascade> or "
           "an element of type_id \"opencv-haar-classifier\"");
    // As in OpenCV, the left leaf of a stump is the first one, whatever the node says.
    if (cascade_.is_stumps())
      for (Node& node : cascade_.nodes) node.left = 0, node.right = -1;
    return std::move(cascade_);
  }

 private:
  // ---- messages -------------------------------------------------------------------------------
  // Messages quote parts of the file; characters that a terminal could act on are replaced.
  static std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
  }
  static std::string quoted(std::string_view text) {
    return fmt::format("\"{}\"", text.substr(0, 16));
  }
  [[noreturn]] void fail(std::ptrdiff_t offset, const std::string& what) const {
    const std::size_t end = std::clamp<std::ptrdiff_t>(offset, 0, std::ssize(xml_));
    const auto line = 1 + std::count(xml_.begin(), xml_.begin() + end, '\n');
    throw CascadeError(fmt::format("{}, line {}: {}", name_, line, printable(what)));
  }
  [[noreturn]] void fail(pugi::xml_node node, const std::string& what) const {
    const std::string_view element = node.name();
    fail(node.offset_debug(), element.empty() || element == "_"
                                  ? what
                                  : fmt::format("<{}>: {}", element.substr(0, 64), what));
  }

  // ---- elements -------------------------------------------------------------------------------
  // The element named `child` inside `parent`; fails if there is none.
  pugi::xml_node need(pugi::xml_node parent, const char* child) const {
    const pugi::xml_node node = parent.child(child);
    if (!node) fail(parent, fmt::format("expected an element <{}> inside", child));
    return node;
  }

  // All numbers in an element's text, separated by white space.
  const std::vector<double>& numbers(pugi::xml_node node) {
    numbers_.clear();
    has_long_integers_ = false;
    const std::string_view text = node.child_value();
    const char *at = text.data(), *end = at + text.size();
    const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
    while (true) {
      while (at != end && is_space(*at)) ++at;
      if (at == end) return numbers_;
      double value = 0;
      const auto [rest, error] = std::from_chars(at, end, value);
      if (error != std::errc() || !std::isfinite(value) || (rest != end && !is_space(*rest)))
        fail(node, fmt::format("expected numbers, found {}", quoted({at, end})));
      const bool is_integer = std::string_view(at, rest).find_first_of(".eE") == text.npos;
      if (is_integer && (value < INT32_MIN || value > INT32_MAX)) has_long_integers_ = true;
      numbers_.push_back(value);
      at = rest;
    }
  }
  double number(pugi::xml_node node) {
    if (numbers(node).size() != 1)
      fail(node, fmt::format("expected one number, found {}", numbers_.size()));
    return numbers_.front();
  }
  float to_float(pugi::xml_node node, double value) const {
    // OpenCV stores numbers without point and exponent as 32-bit integers. Larger ones would become
    // other numbers there, so they are refused here.
    if (has_long_integers_) fail(node, "an integer does not fit into 32 bits");
    const auto f = static_cast<float>(value);
    if (!std::isfinite(f)) fail(node, fmt::format("{} is too large for a 32-bit float", value));
    return f;
  }
  // The value as an integer; fails unless it is a whole number from `low` to `high`.
  int to_int(pugi::xml_node node, double value, double low, double high) const {
    if (value == low && low == high) return static_cast<int>(value);
    if (low == high) fail(node, fmt::format("expected {:.0f}, found {}", low, value));
    if (!(value >= low && value <= high) || value != std::floor(value))
      fail(node, fmt::format("expected a whole number from {:.0f} to {:.0f}, found {}", low, high,
                             value));
    return static_cast<int>(value);
  }
  int integer(pugi::xml_node parent, const char* child, int low, int high) {
    const pugi::xml_node node = need(parent, child);
    return to_int(node, number(node), low, high);
  }
  // Fails if the file states a count, in addition to the elements themselves, that is not
  // `counted`.
  void check_stated_count(pugi::xml_node parent, const char* child, std::size_t counted) {
    const pugi::xml_node node = parent.child(child);
    if (node && number(node) != static_cast<double>(counted))
      fail(node, fmt::format("the file says {}, but there are {}", number(node), counted));
  }

  // ---- the window and its features ------------------------------------------------------------
  void set_window(pugi::xml_node node, int width, int height) {
    // The squared sum of a window must stay below 2^32 for table differences to be exact.
    constexpr double max_area = 4294967295.0 / (255 * 255);
    if (static_cast<double>(width) * height > max_area)
      fail(node,
           fmt::format("a window of {} x {} is too large; its area may be at most {:.0f} pixels",
                       width, height, std::floor(max_area)));
    cascade_.window = {width, height};
  }

  Rect to_rect(pugi::xml_node node, const std::vector<double>& v) const {
    const auto [w, h] = cascade_.window;
    return {to_int(node, v[0], 0, w), to_int(node, v[1], 0, h), to_int(node, v[2], 1, w),
            to_int(node, v[3], 1, h)};
  }
  void check_inside(pugi::xml_node node, bool inside) const {
    if (!inside)
      fail(node, fmt::format("the feature reaches outside the window of {} x {}",
                             cascade_.window.width, cascade_.window.height));
  }

  HaarFeature read_haar(pugi::xml_node feature) {
    HaarFeature result;
    const auto [w, h] = cascade_.window;
    if (const pugi::xml_node tilted = feature.child("tilted"))
      result.tilted = to_int(tilted, number(tilted), 0, 1) == 1;
    std::size_t count = 0;
    for (pugi::xml_node part = need(feature, "rects").first_child(); part;
         part = part.next_sibling()) {
      if (part.type() != pugi::node_element) continue;
      if (count == result.parts.size()) fail(part, "expected at most 3 rectangles in a feature");
      const auto& v = numbers(part);
      if (v.size() != 5)
        fail(part, fmt::format("expected x y width height weight, found {} numbers", v.size()));
      const Rect r = to_rect(part, v);
      check_inside(part, result.tilted ? r.x - r.height >= 0 && r.x + r.width <= w &&
                                             r.y + r.width + r.height <= h
                                       : r.x + r.width <= w && r.y + r.height <= h);
      result.parts[count++] = {r, to_float(part, v[4])};
    }
    if (count == 0) fail(feature, "expected at least one rectangle in a feature");
    return result;
  }

  LbpFeature read_lbp(pugi::xml_node feature) {
    const pugi::xml_node node = need(feature, "rect");
    const auto& v = numbers(node);
    if (v.size() != 4)
      fail(node, fmt::format("expected x y width height, found {} numbers", v.size()));
    const Rect r = to_rect(node, v);
    check_inside(node, r.x + 3 * r.width <= cascade_.window.width &&
                           r.y + 3 * r.height <= cascade_.window.height);
    return {r};
  }

  // ---- trees ----------------------------------------------------------------------------------
  void check_node_count(pugi::xml_node node, std::ptrdiff_t count) const {
    if (count < 1 || count > max_tree_nodes)
      fail(node, fmt::format("expected 1 to {} nodes in a tree, found {}", max_tree_nodes, count));
  }

  // A child must be a node after its parent, or a leaf. So every walk through a tree ends and stays
  // inside the arrays.
  int to_child(pugi::xml_node node, double value, int parent, int node_count) const {
    const int child = to_int(node, value, -node_count, node_count - 1);
    if (child > 0 && child <= parent)
      fail(node, fmt::format("node {} leads back to node {}; expected a later node or a leaf",
                             parent, child));
    return child;
  }

  void add_stage(pugi::xml_node node, int first_tree, double threshold) {
    const int count = static_cast<int>(cascade_.trees.size()) - first_tree;
    if (count == 0) fail(node, "expected at least one tree in a stage");
    // 1e-5 is OpenCV's margin (see Stage).
    cascade_.stages.push_back({first_tree, count, to_float(node, threshold) - 1e-5f});
  }

  void check_has_stages(pugi::xml_node node) const {
    if (cascade_.stages.empty()) fail(node, "expected at least one stage");
  }

  // ---- opencv-cascade-classifier ---------------------------------------------------------------
  void read_new_format(pugi::xml_node root) {
    if (const pugi::xml_node type = need(root, "stageType");
        type.text().as_string() != std::string_view("BOOST"))
      fail(type, fmt::format("expected BOOST, found {}", quoted(type.text().as_string())));
    const pugi::xml_node type = need(root, "featureType");
    const std::string_view kind = type.text().as_string();
    if (kind != "HAAR" && kind != "LBP")
      fail(type, fmt::format("expected HAAR or LBP, found {}", quoted(kind)));
    cascade_.kind = kind == "HAAR" ? FeatureKind::haar : FeatureKind::lbp;
    const int height = integer(root, "height", 3, 4096);
    set_window(need(root, "width"), integer(root, "width", 3, 4096), height);
    const int categories = words_of_node() > 0 ? 256 : 0;  // LBP codes
    integer(need(root, "featureParams"), "maxCatCount", categories, categories);

    const pugi::xml_node features = need(root, "features");
    for (const pugi::xml_node feature : features.children("_")) add_feature(feature);
    if (cascade_.feature_count() == 0) fail(features, "expected at least one feature");
    const pugi::xml_node stages = need(root, "stages");
    for (const pugi::xml_node stage : stages.children("_")) {
      const int first_tree = static_cast<int>(cascade_.trees.size());
      for (const pugi::xml_node tree : need(stage, "weakClassifiers").children("_"))
        read_new_tree(tree);
      const pugi::xml_node threshold = need(stage, "stageThreshold");
      add_stage(threshold, first_tree, number(threshold));
      check_stated_count(stage, "maxWeakCount", cascade_.trees.size() - first_tree);
    }
    check_has_stages(stages);
    check_stated_count(root, "stageNum", cascade_.stages.size());
  }

  void add_feature(pugi::xml_node feature) {
    switch (cascade_.kind) {
      case FeatureKind::haar:
        cascade_.haar.push_back(read_haar(feature));
        return;
      case FeatureKind::lbp:
        cascade_.lbp.push_back(read_lbp(feature));
        return;
    }
  }

  // How many 32-bit words a node's set of LBP codes has. 0: the node has a threshold instead.
  std::size_t words_of_node() const {
    switch (cascade_.kind) {
      case FeatureKind::haar:
        return 0;
      case FeatureKind::lbp:
        return Node().subset.size();
    }
    throw std::logic_error("unknown kind of feature");
  }

  // <internalNodes> has for each node: left, right, feature, and then a threshold or the words of a
  // set of codes.
  void read_new_tree(pugi::xml_node tree) {
    const std::size_t words = words_of_node(), per_node = 3 + std::max<std::size_t>(words, 1);
    const pugi::xml_node nodes = need(tree, "internalNodes");
    const auto& v = numbers(nodes);
    if (v.empty() || v.size() % per_node != 0)
      fail(nodes, fmt::format("expected {} numbers for each node, found {}", per_node, v.size()));
    const int node_count = static_cast<int>(v.size() / per_node);
    check_node_count(nodes, node_count);
    cascade_.trees.push_back({static_cast<int>(cascade_.nodes.size()), node_count,
                              static_cast<int>(cascade_.leaves.size())});
    for (int i = 0; i < node_count; ++i) {
      const double* p = &v[per_node * i];
      Node node;
      node.left = to_child(nodes, p[0], i, node_count);
      node.right = to_child(nodes, p[1], i, node_count);
      node.feature = to_int(nodes, p[2], 0, static_cast<double>(cascade_.feature_count()) - 1);
      for (std::size_t k = 0; k < words; ++k)
        node.subset[k] = static_cast<std::uint32_t>(to_int(nodes, p[3 + k], INT32_MIN, INT32_MAX));
      if (words == 0) node.threshold = to_float(nodes, p[3]);
      cascade_.nodes.push_back(node);
    }
    const pugi::xml_node leaves = need(tree, "leafValues");
    if (numbers(leaves).size() != static_cast<std::size_t>(node_count) + 1)
      fail(leaves, fmt::format("expected {} numbers, found {}", node_count + 1, numbers_.size()));
    for (const double leaf : numbers_) cascade_.leaves.push_back(to_float(leaves, leaf));
  }

  // ---- opencv-haar-classifier ------------------------------------------------------------------
  // Every node has a feature of its own. <parent> and <next> of a stage are ignored, as in OpenCV,
  // because stages always follow each other in the file's order.
  void read_old_format(pugi::xml_node root) {
    cascade_.was_old = true;
    const pugi::xml_node size = need(root, "size");
    const auto& v = numbers(size);
    if (v.size() != 2) fail(size, fmt::format("expected width height, found {} numbers", v.size()));
    const int width = to_int(size, v[0], 3, 4096), height = to_int(size, v[1], 3, 4096);
    set_window(size, width, height);
    const pugi::xml_node stages = need(root, "stages");
    for (const pugi::xml_node stage : stages.children("_")) {
      const int first_tree = static_cast<int>(cascade_.trees.size());
      for (const pugi::xml_node tree : need(stage, "trees").children("_")) read_old_tree(tree);
      const pugi::xml_node threshold = need(stage, "stage_threshold");
      add_stage(threshold, first_tree, number(threshold));
    }
    check_has_stages(stages);
  }

  void read_old_tree(pugi::xml_node tree) {
    const auto nodes = tree.children("_");
    const auto node_count = std::distance(nodes.begin(), nodes.end());
    check_node_count(tree, node_count);
    const Tree entry{static_cast<int>(cascade_.nodes.size()), static_cast<int>(node_count),
                     static_cast<int>(cascade_.leaves.size())};
    cascade_.trees.push_back(entry);
    int index = 0;
    for (const pugi::xml_node element : nodes) {
      Node node;
      node.feature = static_cast<int>(cascade_.haar.size());
      cascade_.haar.push_back(read_haar(need(element, "feature")));
      const pugi::xml_node threshold = need(element, "threshold");
      node.threshold = to_float(threshold, number(threshold));
      node.left = read_old_child(element, "left", index, entry);
      node.right = read_old_child(element, "right", index, entry);
      cascade_.nodes.push_back(node);
      ++index;
    }
    if (std::ssize(cascade_.leaves) - entry.first_leaf != node_count + 1)
      fail(tree, fmt::format("expected {} leaves for {} nodes, found {}", node_count + 1,
                             node_count, std::ssize(cascade_.leaves) - entry.first_leaf));
  }

  // Reads one child of a node. On the left side, <left_val> has the value of a leaf, which is
  // appended, and <left_node> the index of a node; likewise on the right side.
  int read_old_child(pugi::xml_node element, const std::string& side, int index, const Tree& tree) {
    if (const pugi::xml_node value = element.child((side + "_val").c_str())) {
      cascade_.leaves.push_back(to_float(value, number(value)));
      return tree.first_leaf + 1 - static_cast<int>(cascade_.leaves.size());
    }
    const pugi::xml_node node = need(element, (side + "_node").c_str());
    if (index + 1 == tree.node_count)
      fail(node, fmt::format("node {} is the tree's last; expected a leaf, <{}_val>", index, side));
    return to_int(node, number(node), index + 1, tree.node_count - 1);
  }

  std::string_view xml_;
  const std::string& name_;
  Cascade cascade_;
  std::vector<double> numbers_;
  bool has_long_integers_ = false;  // numbers_ has integers beyond 32 bits
};

}  // namespace

Cascade parse_cascade(std::string_view xml, const std::string& name) {
  Cascade cascade = Parser(xml, name).parse();
  cascade.name = name;
  return cascade;
}

}  // namespace facesat

// Writes a cascade in OpenCV's present format. Floats are written as the f64 values that they
// equal, so that reading them (decimal -> f64 -> f32) gives them back.
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/cascade.hpp"

namespace facesat {
namespace {

class Writer {
 public:
  explicit Writer(const Cascade& cascade) : cascade_(cascade) {}

  std::string write(std::string_view comment) {
    const auto [width, height] = cascade_.window;
    line("<?xml version=\"1.0\"?>");
    if (!comment.empty()) line("<!--\n{}\n-->", comment);
    line("<opencv_storage>");
    line("<cascade type_id=\"opencv-cascade-classifier\">");
    line("<stageType>BOOST</stageType>");
    line("<featureType>{}</featureType>", traits_.type_in_files);
    line("<height>{}</height>\n<width>{}</width>", height, width);
    line("<featureParams><maxCatCount>{}</maxCatCount></featureParams>", 32 * traits_.subset_words);
    line("<stageNum>{}</stageNum>\n<stages>", cascade_.stages.size());
    for (const Stage& stage : cascade_.stages) write(stage);
    line("</stages>\n<features>");
    switch (cascade_.kind) {
      case FeatureKind::haar:
        for (const HaarFeature& feature : cascade_.haar) write(feature);
        break;
      case FeatureKind::lbp:
        for (const auto& [block] : cascade_.lbp)
          line("<_><rect>{} {} {} {}</rect></_>", block.x, block.y, block.width, block.height);
        break;
    }
    line("</features>\n</cascade>\n</opencv_storage>");
    return std::move(text_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  static double exact(float value) { return value; }

  // The number that becomes `threshold` (or, if none does, the next one above) when stage_margin
  // is subtracted.
  static float before_margin(float threshold) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    float value = threshold + stage_margin;
    while (value - stage_margin > threshold) value = std::nextafter(value, -infinity);
    while (value - stage_margin < threshold) value = std::nextafter(value, infinity);
    return value;
  }

  void write(const Stage& stage) {
    line("<_>\n<maxWeakCount>{}</maxWeakCount>", stage.tree_count);
    line("<stageThreshold>{}</stageThreshold>\n<weakClassifiers>",
         exact(before_margin(stage.threshold)));
    for (int i = 0; i < stage.tree_count; ++i) write(cascade_.trees[stage.first_tree + i]);
    line("</weakClassifiers></_>");
  }

  void write(const Tree& tree) {
    line("<_><internalNodes>");
    for (int i = 0; i < tree.node_count; ++i) write(cascade_.nodes[tree.first_node + i]);
    line("</internalNodes>\n<leafValues>");
    for (int i = 0; i <= tree.node_count; ++i)
      line("{}", exact(cascade_.leaves[tree.first_leaf + i]));
    line("</leafValues></_>");
  }

  void write(const Node& node) {
    fmt::format_to(std::back_inserter(text_), "{} {} {}", node.left, node.right, node.feature);
    if (traits_.subset_words == 0)
      line(" {}", exact(node.threshold));
    else
      line(" {}", fmt::join(signed_words(node), " "));
  }
  static std::array<std::int32_t, 8> signed_words(const Node& node) {
    std::array<std::int32_t, 8> words;
    for (std::size_t k = 0; k < words.size(); ++k)
      words[k] = static_cast<std::int32_t>(node.subset[k]);
    return words;
  }

  // Without absent parts at the end.
  static std::size_t part_count(const HaarFeature& feature) {
    std::size_t count = feature.parts.size();
    while (count > 1 && feature.parts[count - 1].weight == 0 &&
           feature.parts[count - 1].rect == Rect())
      --count;
    return count;
  }

  void write(const HaarFeature& feature) {
    line("<_><rects>");
    for (std::size_t i = 0; i < part_count(feature); ++i) {
      const auto& [rect, weight] = feature.parts[i];
      line("<_>{} {} {} {} {}</_>", rect.x, rect.y, rect.width, rect.height, exact(weight));
    }
    line("</rects><tilted>{}</tilted></_>", feature.tilted ? 1 : 0);
  }

  const Cascade& cascade_;
  const FeatureTraits traits_ = traits_of(cascade_.kind);
  std::string text_;
};

}  // namespace

std::string to_xml(const Cascade& cascade, std::string_view comment) {
  return Writer(cascade).write(comment);
}

}  // namespace facesat

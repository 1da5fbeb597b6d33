#include "app/live/detection/inspection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

#include "core/cpu/haar.hpp"
#include "core/cpu/lbp.hpp"
#include "core/grouping.hpp"
#include "kernels/image/atlas.hpp"

namespace facesat::app {
namespace {

// An image of the same size, with the pixels colour(x, y).
template <class Colour>
Image<Bgr> each(const Image<std::uint32_t>& values, Colour colour) {
  Image<Bgr> image(values.size());
  for (int y = 0; y < values.size().height; ++y)
    for (int x = 0; x < values.size().width; ++x) image.row(y)[x] = colour(x, y);
  return image;
}

bool is_integral(Snapshot picture) {
  return picture == Snapshot::sum || picture == Snapshot::squared_sum;
}

void fill(Image<std::uint32_t>& values, std::uint32_t value) {
  for (int y = 0; y < values.size().height; ++y)
    std::fill_n(values.row(y), values.size().width, value);
}

// Depths are known for windows, which begin at every `step`-th pixel of every `step`-th row. In the
// result, which has the level's size, each covers step x step pixels around its window's centre.
Image<std::uint32_t> at_centres(const Image<std::uint32_t>& depths, const Level& level,
                                Size window) {
  Image<std::uint32_t> result(level.size);
  fill(result, no_value);
  const int left = first_centre(window.width, level.step),
            top = first_centre(window.height, level.step);
  for (int y = 0; y < depths.size().height * level.step; ++y)
    for (int x = 0; x < depths.size().width * level.step; ++x)
      result.row(top + y)[left + x] = depths.row(y / level.step)[x / level.step];
  return result;
}

Image<std::uint32_t> values_of(FrameDetector& detector, Snapshot picture, int level) {
  Image<std::uint32_t> values = detector.backend().snapshot(picture, level);
  if (picture != Snapshot::depth) return values;
  return at_centres(values, detector.pyramid().levels[level], detector.cascade().window);
}

double largest_in(const Image<std::uint32_t>& values, const FrameDetector& detector,
                  Snapshot picture) {
  const Size size = values.size();
  if (picture == Snapshot::depth) return static_cast<double>(detector.cascade().stages.size());
  if (is_integral(picture)) return std::max(1u, values.row(size.height - 1)[size.width - 1]);
  return 255;
}

// All levels that share an atlas with the chosen one, each in colours of its own range.
InspectedPicture inspect_atlas(FrameDetector& detector, const Inspection& inspection) {
  const Snapshot picture = *inspection.picture;
  const gpu::AtlasPlan plan = gpu::plan_atlas(detector.pyramid());
  // A group is a number of consecutive levels that share one atlas.
  const gpu::LevelGroup& group = plan.groups[plan.places[inspection.level].group];
  InspectedPicture atlas{inspection, Image<std::uint32_t>(group.atlas), Image<Bgr>(group.atlas)};
  fill(atlas.values, no_value);
  for (int y = 0; y < group.atlas.height; ++y)
    std::fill_n(atlas.colours.row(y), group.atlas.width, Bgr{});
  for (int i = group.first; i < group.first + group.count; ++i) {
    const Image<std::uint32_t> values = values_of(detector, picture, i);
    const double largest = largest_in(values, detector, picture);
    const gpu::AtlasPlan::Place place = plan.places[i];
    const Rect part{place.x, place.y, values.size().width, values.size().height};
    const Image<Bgr> colours = coloured(values, picture, largest);
    copy(values.view(), atlas.values.view().sub(part));
    copy(colours.view(), atlas.colours.view().sub(part));
    if (!is_integral(picture)) atlas.largest = largest;
  }
  return atlas;
}

}  // namespace

std::size_t Opacities::index(const Inspection& shown) {
  if (shown.filtered || !shown.picture) return snapshots;
  return static_cast<std::size_t>(*shown.picture);
}

bool InspectedPicture::is_in_false_colours() const {
  return shown.picture == Snapshot::depth || is_integral(*shown.picture);
}

double place_in_palette(double value, Snapshot picture, double largest) {
  return picture == Snapshot::depth ? std::sqrt(value / largest) : value / largest;
}

// Mixed from the two nearest of the points.
Bgr palette(double place) {
  struct Point {
    double b, g, r;
  };
  static constexpr std::array<Point, 6> points{
      {{24, 8, 8}, {160, 40, 60}, {150, 150, 20}, {60, 190, 90}, {40, 220, 240}, {255, 255, 255}}};
  const double along = std::clamp(place, 0.0, 1.0) * (points.size() - 1);
  const auto first = std::min(static_cast<std::size_t>(along), points.size() - 2);
  const double part = along - static_cast<double>(first);
  const auto mixed = [&](double Point::*of) {
    return static_cast<std::uint8_t>(points[first].*of * (1 - part) + points[first + 1].*of * part);
  };
  return {mixed(&Point::b), mixed(&Point::g), mixed(&Point::r)};
}

Image<Bgr> coloured(const Image<std::uint32_t>& values, Snapshot picture, double largest) {
  if (picture == Snapshot::gray || picture == Snapshot::level)
    return each(values, [&](int x, int y) {
      const auto v = static_cast<std::uint8_t>(values.row(y)[x]);
      return Bgr{v, v, v};
    });
  return each(values, [&](int x, int y) {
    const std::uint32_t value = values.row(y)[x];
    // An integral image may contain the same number.
    if (picture == Snapshot::depth && value == no_value) return Bgr{};
    return palette(place_in_palette(value, picture, largest));
  });
}

InspectedPicture inspect(FrameDetector& detector, const Inspection& inspection) {
  Inspection shown = inspection;
  const int last = static_cast<int>(detector.pyramid().levels.size()) - 1;
  shown.level = std::clamp(inspection.level, 0, last);
  if (!shown.is_frame()) return inspect_atlas(detector, shown);
  const Snapshot picture = *shown.picture;
  Image<std::uint32_t> values = values_of(detector, picture, shown.level);
  const double largest = largest_in(values, detector, picture);
  Image<Bgr> colours = coloured(values, picture, largest);
  return {shown, std::move(values), std::move(colours), largest};
}

namespace {

constexpr int plane_count = 3;

// The detector's evaluation of one window, one node after the other. `Test` is the node test of a
// kind of features.
template <class Test>
class Evaluation {
 public:
  Evaluation(const LevelTables& tables, rules::Corner window, float inverse_deviation)
      : cascade_(tables.cascade()),
        layout_(tables.layout()),
        at_(tables.window(window)),
        inverse_deviation_(inverse_deviation) {}

  Test test(const Node& node) const { return Test(cascade_, node, layout_); }
  bool goes_left(const Node& node) const { return test(node).goes_left(at_, inverse_deviation_); }

  // The leaf of a tree; visit(node, left) is called for each node on the way.
  template <class Visit>
  float response(const Tree& tree, Visit visit) const {
    int index = 0;
    do {
      const Node& node = cascade_.nodes[tree.first_node + index];
      const bool left = goes_left(node);
      visit(index, left);
      index = left ? node.left : node.right;
    } while (index > 0);
    return cascade_.leaves[tree.first_leaf - index];
  }

  // The sum of a stage's first `count` weak classifiers.
  double sum(const Stage& stage, int count) const {
    double result = 0;
    for (int i = 0; i < count; ++i)
      result += response(cascade_.trees[stage.first_tree + i], [](int, bool) {});
    return result;
  }
  bool passes(const Stage& stage) const { return sum(stage, stage.tree_count) >= stage.threshold; }

  int stages_passed() const {
    const auto failed = std::find_if_not(cascade_.stages.begin(), cascade_.stages.end(),
                                         [this](const Stage& stage) { return passes(stage); });
    return static_cast<int>(failed - cascade_.stages.begin());
  }

 private:
  const Cascade& cascade_;
  cpu::Layout layout_;
  const std::uint32_t* at_;
  float inverse_deviation_;
};

template <class Test>
void explain_choice(const Evaluation<Test>& evaluation, const Cascade& cascade,
                    const FeatureChoice& choice, Explanation& to) {
  const Stage& stage = cascade.stages[choice.stage];
  to.left = evaluation.goes_left(choice.of(cascade));
  to.response = evaluation.response(choice.tree(cascade), [&](int node, bool left) {
    to.walk.push_back({node, left});
    to.is_on_walk |= node == choice.node;
  });
  to.sum_so_far = evaluation.sum(stage, choice.weak + 1);
  to.stage_sum = evaluation.sum(stage, stage.tree_count);
  to.passes_stage = evaluation.passes(stage);
  to.stages_passed = evaluation.stages_passed();
}

// At least one: the last ones are absent if their weight is 0.
int rectangle_count(const HaarFeature& feature) {
  int count = static_cast<int>(feature.parts.size());
  while (count > 1 && feature.parts[count - 1].weight == 0) --count;
  return count;
}

RectangleSum read(const LevelTables& tables, rules::Corner window, const Rect& rect, bool tilted) {
  RectangleSum result{.rect = rect, .corner = rules::corners_of(rect, tilted), .read = {}};
  const auto offsets = cpu::Corners::of(rect, tilted, tables.layout());
  const std::uint32_t* const at = tables.window(window);
  for (std::size_t i = 0; i < result.read.size(); ++i) result.read[i] = at[offsets.offset[i]];
  result.sum = offsets.sum(at);
  return result;
}

}  // namespace

LevelTables::LevelTables(FrameDetector& detector, std::shared_ptr<const Cascade> cascade, int level)
    : cascade_(std::move(cascade)),
      level_(detector.pyramid().levels[level]),
      index_(level),
      image_(detector.pyramid().image),
      planes_({level_.size.width + 1, plane_count * (level_.size.height + 1)}) {
  const auto take = [&](Snapshot picture, int plane) {
    const Image<std::uint32_t> table = detector.backend().snapshot(picture, level);
    put(table.view(), plane, picture == Snapshot::tilted_sum);
  };
  take(Snapshot::sum, 0);
  if (traits_of(cascade_->kind).squares) take(Snapshot::squared_sum, 1);
  if (cascade_->has_tilted()) take(Snapshot::tilted_sum, 2);
}

// Row -1 is zero. In column -1 only the tilted integral image has more than zeros: the cone of
// pixels of element (-1, y) enters the picture at the same pixels as that of element (0, y - 1).
void LevelTables::put(View<const std::uint32_t> table, int plane, bool tilted) {
  const int width = table.size.width;
  std::fill_n(planes_.row(plane), width + 1, 0);
  for (int y = 0; y < table.size.height; ++y) {
    std::uint32_t* const row = planes_.row(plane_count * (y + 1) + plane);
    row[0] = tilted && y > 0 ? table.row(y - 1)[0] : 0;
    std::copy_n(table.row(y), width, row + 1);
  }
}

// The same for a point of the level.
static rules::Corner window_around(const Level& level, Size window, double x, double y) {
  const auto nearest = [step = level.step](double centre, int side, int count) {
    const int pixel = static_cast<int>(centre) - first_centre(side, step);
    return step * std::clamp(pixel / step, 0, count - 1);
  };
  return {nearest(x, window.width, level.grid.width), nearest(y, window.height, level.grid.height)};
}

rules::Corner LevelTables::window_around(double x, double y) const {
  return app::window_around(level_, cascade_->window, x / across(), y / down());
}

// How far apart the edges of two boxes are, added up.
static int difference(const Rect& a, const Rect& b) {
  return std::abs(a.x - b.x) + std::abs(a.y - b.y) + std::abs(a.x + a.width - b.x - b.width) +
         std::abs(a.y + a.height - b.y - b.height);
}

// The boxes of the windows that are similar to the first one, or to one that is, and so on.
static std::vector<Rect> class_of(const Window& first, std::span<const Window> windows) {
  std::vector<const Window*> others;
  for (const Window& window : windows)
    if (&window != &first) others.push_back(&window);
  std::ranges::sort(others, {}, [](const Window* window) { return window->box.x; });
  std::vector<Rect> members{first.box};
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Rect box = members[i];
    const int within = similar_within({box.width, box.height}, {box.width, box.height});
    const auto x_of = [](const Window* window) { return window->box.x; };
    const auto begin = std::ranges::lower_bound(others, box.x - within, {}, x_of);
    const auto end = std::ranges::upper_bound(others, box.x + within, {}, x_of);
    const auto joined = std::stable_partition(
        begin, end, [&](const Window* other) { return !are_similar(box, other->box); });
    for (auto other = joined; other != end; ++other) members.push_back((*other)->box);
    others.erase(joined, end);
  }
  return members;
}

// Where a window would have this box: on the level whose windows are nearly as wide, around its
// centre.
static WindowLikeBox nearest_window(const Pyramid& pyramid, const Rect& box) {
  const auto ratio = [&](const Level& level) {
    return std::abs(std::log(level.scale * static_cast<float>(pyramid.window.width) /
                             static_cast<float>(box.width)));
  };
  const auto level = std::ranges::min_element(pyramid.levels, {}, ratio);
  const double across = static_cast<double>(level->size.width) / pyramid.image.width,
               down = static_cast<double>(level->size.height) / pyramid.image.height;
  return {static_cast<int>(level - pyramid.levels.begin()),
          window_around(*level, pyramid.window, (box.x + box.width / 2.0) * across,
                        (box.y + box.height / 2.0) * down),
          {}};
}

WindowLikeBox window_like(FrameDetector& detector, const Rect& box) {
  const std::span<const Window> windows = detector.backend().windows();
  const auto best = std::ranges::min_element(
      windows, {}, [&](const Window& window) { return difference(window.box, box); });
  if (best != windows.end() && are_similar(best->box, box))
    return {best->level, {best->x, best->y}, class_of(*best, windows)};
  WindowLikeBox nearest = nearest_window(detector.pyramid(), box);
  const auto found = std::ranges::find_if(windows, [&](const Window& window) {
    return window.level == nearest.level && window.x == nearest.window.x &&
           window.y == nearest.window.y;
  });
  if (found != windows.end()) nearest.merged = class_of(*found, windows);
  return nearest;
}

cpu::Layout LevelTables::layout() const {
  return {.row = plane_count * planes_.view().pitch, .tilted = 2 * planes_.view().pitch};
}

const std::uint32_t* LevelTables::window(rules::Corner at) const {
  return planes_.row(plane_count * at.y) + at.x;
}

static int rectangle_count(const Cascade& cascade, const Node& node) {
  switch (cascade.kind) {
    case FeatureKind::haar:
      return rectangle_count(cascade.haar[node.feature]);
    case FeatureKind::lbp:
      return 9;
  }
  throw std::logic_error("unknown kind of feature");
}

FeatureChoice FeatureChoice::within(const Cascade& cascade) const {
  const auto limited = [](int value, int count) { return std::clamp(value, 0, count - 1); };
  FeatureChoice choice = *this;
  choice.stage = limited(stage, static_cast<int>(cascade.stages.size()));
  choice.weak = limited(weak, cascade.stages[choice.stage].tree_count);
  choice.node = limited(node, choice.tree(cascade).node_count);
  choice.rectangle = limited(rectangle, rectangle_count(cascade, choice.of(cascade)));
  return choice;
}

const Tree& FeatureChoice::tree(const Cascade& cascade) const {
  return cascade.trees[cascade.stages[stage].first_tree + weak];
}

const Node& FeatureChoice::of(const Cascade& cascade) const {
  return cascade.nodes[tree(cascade).first_node + node];
}

std::vector<RectangleSum> rectangles_of(const LevelTables& tables, rules::Corner window,
                                        const Node& node) {
  std::vector<RectangleSum> all;
  switch (tables.cascade().kind) {
    case FeatureKind::haar: {
      const HaarFeature& feature = tables.cascade().haar[node.feature];
      for (int i = 0; i < rectangle_count(feature); ++i) {
        all.push_back(read(tables, window, feature.parts[i].rect, feature.tilted));
        all.back().weight = feature.parts[i].weight;
      }
      break;
    }
    case FeatureKind::lbp: {
      const Rect& first = tables.cascade().lbp[node.feature].block;
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i)
          all.push_back(read(
              tables, window,
              {first.x + i * first.width, first.y + j * first.height, first.width, first.height},
              false));
      for (RectangleSum& block : all) block.bit = block.sum >= all[4].sum;
      break;
    }
  }
  return all;
}

Explanation explain(const LevelTables& tables, rules::Corner window, const FeatureChoice& choice) {
  const Cascade& cascade = tables.cascade();
  const Node& node = choice.of(cascade);
  const std::uint32_t* const at = tables.window(window);
  Explanation result;
  result.window = window;
  result.rectangles = rectangles_of(tables, window, node);
  switch (cascade.kind) {
    case FeatureKind::haar: {
      const cpu::HaarNormalisation normalisation(cascade.window, tables.layout());
      const float inverse = normalisation.inverse_deviation(at, tables.squares());
      result.inverse_deviation = inverse;
      if (inverse == 0) break;  // rejected before the first stage
      result.deviation = 1 / (normalisation.area * inverse);
      result.area = static_cast<int>(normalisation.area);
      const Evaluation<cpu::HaarTest> evaluation(tables, window, inverse);
      result.value = evaluation.test(node).value(at, inverse);
      explain_choice(evaluation, cascade, choice, result);
      break;
    }
    case FeatureKind::lbp: {
      result.inverse_deviation = 1;
      const Evaluation<cpu::LbpTest> evaluation(tables, window, 1);
      result.code = evaluation.test(node).code(at);
      explain_choice(evaluation, cascade, choice, result);
      break;
    }
  }
  return result;
}

}  // namespace facesat::app

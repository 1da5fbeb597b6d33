#include "datasets/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace facesat::training {
namespace {

constexpr double furthest = 0.3, largest_ratio = 1.5;  // of `centre` and `opencv`

Box box_of(const Face& face) {
  const auto [x, y, width, height] = face.box;
  return {static_cast<double>(x), static_cast<double>(y), static_cast<double>(width),
          static_cast<double>(height)};
}

double intersection(const Box& a, const Box& b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  return std::max(0.0, width) * std::max(0.0, height);
}

double between_centres(const Box& a, const Box& b) {
  const double x = (a.x + a.width / 2) - (b.x + b.width / 2);
  const double y = (a.y + a.height / 2) - (b.y + b.height / 2);
  return std::sqrt(x * x + y * y);
}

std::optional<double> by_iou(const Box& object, const Box& detection, double least) {
  const double both = intersection(object, detection);
  const double iou =
      both / (object.width * object.height + detection.width * detection.height - both);
  return iou >= least ? std::optional(-iou) : std::nullopt;
}

std::optional<double> by_centre(const Box& object, const Box& detection) {
  const double distance = between_centres(object, detection) / object.width;
  const double ratio =
      std::sqrt(detection.width * detection.height) / std::sqrt(object.width * object.height);
  const bool is_right =
      distance <= furthest && ratio >= 1 / largest_ratio && ratio <= largest_ratio;
  return is_right ? std::optional(distance) : std::nullopt;
}

std::optional<double> as_opencv(const Box& object, const Box& detection) {
  const auto size_of = [](const Box& box) {
    return std::sqrt(0.5 * (box.width * box.width + box.height * box.height));
  };
  const double size = size_of(object), distance = between_centres(object, detection);
  const double found = size_of(detection);
  const bool is_right =
      distance < size * furthest && found > size / largest_ratio && found < size * largest_ratio;
  return is_right ? std::optional(distance) : std::nullopt;
}

std::optional<double> as_uiuc(const Box& object, const Box& detection) {
  const double across = (detection.x - object.x) / (0.25 * object.width);
  const double down = (detection.y - object.y) / (0.25 * object.height);
  const double size = (detection.width - object.width) / (0.25 * object.width);
  const double sum = across * across + down * down + size * size;
  return sum <= 1 ? std::optional(sum) : std::nullopt;
}

// A detection that is right about an object, both by their indices.
struct Pair {
  double distance;
  std::uint32_t object, detection;
};

// All pairs of detections and objects that are not ignored, the closest first.
std::vector<Pair> pairs_of(std::span<const AnnotatedObject> objects,
                           std::span<const Face> detections, const MatchOptions& options) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < objects.size(); ++i)
    for (std::size_t k = 0; !objects[i].ignored && k < detections.size(); ++k)
      if (const auto distance = distance_of(objects[i].box, box_of(detections[k]), options))
        pairs.push_back({*distance, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k)});
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tie(a.distance, a.object, a.detection) <
           std::tie(b.distance, b.object, b.detection);
  });
  return pairs;
}

bool is_on_ignored(std::span<const AnnotatedObject> objects, const Face& face,
                   const MatchOptions& options) {
  const Box box = box_of(face);
  return std::any_of(objects.begin(), objects.end(), [&](const AnnotatedObject& object) {
    return object.ignored && (distance_of(object.box, box, options) ||
                              2 * intersection(object.box, box) >= box.width * box.height);
  });
}

// What each detection counts for if it is right about no object.
std::vector<Verdict> verdicts_on_others(std::span<const AnnotatedObject> objects,
                                        std::span<const Face> detections,
                                        const MatchOptions& options) {
  std::vector<Verdict> verdicts;
  for (const Face& face : detections)
    verdicts.push_back(is_on_ignored(objects, face, options) ? Verdict::ignored
                                                             : Verdict::false_alarm);
  return verdicts;
}

// Goes through pairs, the closest first, and marks objects and detections as taken, both by their
// indices. One-to-one: a pair of which one is taken does not count.
struct Taken {
  std::vector<char> objects, detections;

  Taken(std::size_t object_count, std::size_t detection_count)
      : objects(object_count), detections(detection_count) {}
  void take(const Pair& pair, bool one_to_one) {
    char& object = objects[pair.object];
    char& detection = detections[pair.detection];
    if (one_to_one && (object != 0 || detection != 0)) return;
    object = detection = 1;
  }
};

Matches match_all(std::span<const AnnotatedObject> objects, std::span<const Face> detections,
                  const MatchOptions& options, bool one_to_one) {
  Taken taken(objects.size(), detections.size());
  for (const Pair& pair : pairs_of(objects, detections, options)) taken.take(pair, one_to_one);
  std::vector<Verdict> verdicts = verdicts_on_others(objects, detections, options);
  for (std::size_t i = 0; i < detections.size(); ++i)
    if (taken.detections[i] != 0) verdicts[i] = Verdict::right;
  return {std::move(taken.objects), std::move(verdicts)};
}

bool is_one_to_one(const MatchOptions& options) {
  return options.criterion != Criterion::opencv;
}

// Appends what the detections in pairs add, one-to-one, for each of their scores.
template <class ScoreOf>
void append_steps(std::span<const Pair> pairs, std::vector<std::uint32_t> paired,
                  std::size_t object_count, std::span<const Verdict> others,
                  const ScoreOf& score_of, std::vector<Step>& steps) {
  std::stable_sort(paired.begin(), paired.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return score_of(a) > score_of(b); });
  Counts before;
  for (std::size_t end = 0; end < paired.size();) {
    const double score = score_of(paired[end]);
    while (end < paired.size() && score_of(paired[end]) == score) ++end;
    Taken taken(object_count, others.size());
    for (const Pair& pair : pairs)
      if (score_of(pair.detection) >= score) taken.take(pair, true);
    Counts now;
    for (std::size_t i = 0; i < end; ++i) {
      const bool is_right = taken.detections[paired[i]] != 0;
      now.found += is_right;
      now.false_alarms += !is_right && others[paired[i]] == Verdict::false_alarm;
    }
    // Neither ever falls: a new detection may take an object from another one, and that one may
    // take an object from a third, but each object that was found stays found, and only the last
    // detection of such a row is left without one.
    steps.push_back({score, {now.found - before.found, now.false_alarms - before.false_alarms}});
    before = now;
  }
}

}  // namespace

std::optional<double> distance_of(const Box& object, const Box& detection,
                                  const MatchOptions& options) {
  switch (options.criterion) {
    case Criterion::iou:
      return by_iou(object, detection, options.iou);
    case Criterion::centre:
      return by_centre(object, detection);
    case Criterion::opencv:
      return as_opencv(object, detection);
    case Criterion::uiuc:
      return as_uiuc(object, detection);
  }
  return std::nullopt;
}

Matches match(std::span<const AnnotatedObject> objects, std::span<const Face> detections,
              const MatchOptions& options) {
  return match_all(objects, detections, options, is_one_to_one(options));
}

Matches match_each(std::span<const AnnotatedObject> objects, std::span<const Face> detections,
                   const MatchOptions& options) {
  return match_all(objects, detections, options, false);
}

Counts counts_of(const Matches& matches) {
  const auto count = [](const auto& values, auto value) {
    return static_cast<std::size_t>(std::count(values.begin(), values.end(), value));
  };
  return {count(matches.found, 1), count(matches.verdicts, Verdict::false_alarm)};
}

std::vector<Step> steps_of(std::span<const AnnotatedObject> objects,
                           std::span<const Face> detections, const MatchOptions& options,
                           bool each) {
  const bool one_to_one = !each && is_one_to_one(options);
  const std::vector<Verdict> others = verdicts_on_others(objects, detections, options);
  const auto score_of = [&](std::uint32_t detection) { return detections[detection].score; };
  std::vector<Pair> pairs = pairs_of(objects, detections, options);
  std::vector<char> is_in_pair(detections.size());
  for (const Pair& pair : pairs) is_in_pair[pair.detection] = 1;

  std::vector<Step> steps;
  std::vector<std::uint32_t> paired;  // the detections that are in pairs
  for (std::uint32_t i = 0; i < detections.size(); ++i) {
    if (is_in_pair[i] != 0)
      paired.push_back(i);
    else if (others[i] == Verdict::false_alarm)
      steps.push_back({score_of(i), {0, 1}});
  }
  if (one_to_one) {
    append_steps(pairs, paired, objects.size(), others, score_of, steps);
  } else {  // an object is found at the highest score of its detections
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
      return score_of(a.detection) > score_of(b.detection);
    });
    std::vector<char> found(objects.size());
    for (const Pair& pair : pairs)
      if (!std::exchange(found[pair.object], 1))
        steps.push_back({score_of(pair.detection), {1, 0}});
  }
  return steps;
}

std::vector<OperatingPoint> curve_of(std::vector<Step> steps) {
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.score > b.score; });
  std::vector<OperatingPoint> curve;
  std::size_t shown = 0;  // found, at the last point that stays
  Counts sum;
  for (std::size_t i = 0; i < steps.size();) {
    const double score = steps[i].score;
    for (; i < steps.size() && steps[i].score == score; ++i) {
      sum.found += steps[i].more.found;
      sum.false_alarms += steps[i].more.false_alarms;
    }
    if (sum.found == shown && i < steps.size()) continue;
    shown = sum.found;
    curve.push_back({score, sum});
  }
  return curve;
}

double average_precision(std::span<const OperatingPoint> curve, std::size_t objects) {
  double sum = 0, best = 0;
  for (std::size_t i = curve.size(); i-- > 0;) {
    const auto [found, false_alarms] = curve[i].counts;
    const std::size_t before = i > 0 ? curve[i - 1].counts.found : 0;
    if (found > 0)
      best = std::max(best, static_cast<double>(found) / static_cast<double>(found + false_alarms));
    sum += best * static_cast<double>(found - before);
  }
  return objects > 0 ? sum / static_cast<double>(objects) : 0;
}

}  // namespace facesat::training

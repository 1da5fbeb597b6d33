// Tries cascades on samples and pictures that they were not trained with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "boosting/samples.hpp"
#include "core/cascade.hpp"
#include "core/stop.hpp"
#include "training/negative_pictures.hpp"
#include "training/object_samples.hpp"
#include "training/picture_search.hpp"

namespace facesat::training {

// Divides samples and pictures by chance into `count` folds of the same size. Those of fold
// `number` are tried, those of all others are learnt from. Only the samples of one object stay
// together: objects of one picture, and frames of one video, come into different folds.
struct Fold {
  int number = 0, count = 3;
  std::uint64_t seed = 1;
};

// The samples to learn from and those to try, in their order. Objects keep their samples together.
std::pair<Samples, Samples> divided(const ObjectSamples& all, const Fold& fold);

// The same for pictures; each part refers to the pictures of `all`. A part may be empty.
struct DividedPictures {
  std::shared_ptr<NegativePictures> learnt, tried;
};
DividedPictures divided(std::shared_ptr<NegativePictures> all, const Fold& fold);

// What the first stages of a cascade do.
struct CurvePoint {
  int stages = 0;
  std::uint64_t accepted = 0;  // windows of the pictures, before grouping
  double hit_rate = 0;         // of the positives
};

struct Curve {
  double megapixels = 0;      // of the pictures
  std::uint64_t windows = 0;  // that were searched
  std::vector<CurvePoint> points{};

  // Accepted windows per megapixel. Where there are none, half a window is assumed.
  double false_alarms(const CurvePoint& point) const;
};

// The points of `cascade` with its first `least_stages` stages, with one more, and so on to all of
// them. Windows are searched as by a Mine, without mirror images; those that pass `least_stages`
// are judged one at a time. If more than 20,000 of a picture pass, some stand for all: then
// numbers are estimates. `least_stages` is from 1 to the number of stages. Throws Stopped,
// MemoryError.
Curve curve_of(const Cascade& cascade, int least_stages, const Samples& positives,
               NegativePictures& negatives, double scale_factor, const MakeBackend& make_backend,
               const ShouldStop& should_stop);

// The hit rate at so many false alarms (see Curve), linear in their logarithm between the points.
// Nullopt if all points have more. With fewer at the first point, its hit rate.
std::optional<double> hit_rate_at(const Curve& curve, double false_alarms);

}  // namespace facesat::training

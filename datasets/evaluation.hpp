// How well detections agree with annotated objects, and how that changes with a threshold.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "datasets/annotations.hpp"
#include "facesat/types.hpp"

namespace facesat::training {

// When a detection is right. All but `opencv` are one-to-one: each object counts for one detection,
// the closest pairs first, and further detections of the object are false.
enum class Criterion {
  // The area of intersection is at least MatchOptions::iou of that of the union.
  iou,
  // Centres are at most 0.3 widths of the object apart, and the ratio of sizes (square roots of
  // areas) is from 1/1.5 to 1.5.
  centre,
  // As opencv_performance counted: centres are less than 0.3 sizes of the object apart, and the
  // ratio of sizes (root mean squares of width and height) is between 1/1.5 and 1.5. Any number of
  // detections may be right about an object, and a detection about several objects.
  opencv,
  // That of the UIUC image database for car detection (Agarwal, Awan and Roth: Learning to detect
  // objects in images via a sparse, part-based representation, IEEE Transactions on Pattern
  // Analysis and Machine Intelligence 26(11), 2004): position and width of the detection lie in the
  // ellipsoid around those of the object whose half axes are a quarter of the object's width across
  // and in size, and of its height down. The position is the upper left corner.
  uiuc,
};

struct MatchOptions {
  Criterion criterion = Criterion::iou;
  double iou = 0.4;  // more than 0, at most 1
};

// How far a detection is from an object, in units that depend on the criterion; nullopt if it is
// not right.
std::optional<double> distance_of(const Box& object, const Box& detection,
                                  const MatchOptions& options);

enum class Verdict : char { right, false_alarm, ignored };

struct Matches {
  std::vector<char> found;        // for each object: is a detection right about it?
  std::vector<Verdict> verdicts;  // for each detection
};

// Compares the detections in a picture with its objects. Of pairs that are equally close, the one
// with the first object, then the first detection, is taken first. Ignored objects are never
// found. A detection that is right about no other object is ignored if it is right about an ignored
// one, or if at least half of its area lies in one (which may be a region, such as a crowd).
Matches match(std::span<const AnnotatedObject> objects, std::span<const Face> detections,
              const MatchOptions& options);

// The same if all detections count by themselves, as windows before grouping do: any number of them
// may be right about an object, whatever the criterion.
Matches match_each(std::span<const AnnotatedObject> objects, std::span<const Face> detections,
                   const MatchOptions& options);

struct Counts {
  std::size_t found = 0;         // objects
  std::size_t false_alarms = 0;  // detections
};
Counts counts_of(const Matches& matches);

// What a threshold on scores adds to the counts when it falls to `score`.
struct Step {
  double score = 0;
  Counts more;
};

// The steps of one picture, in any order: the counts of match() (or match_each()) for the
// detections whose scores are not below a threshold are the sums of the steps whose scores are not
// below it.
std::vector<Step> steps_of(std::span<const AnnotatedObject> objects,
                           std::span<const Face> detections, const MatchOptions& options,
                           bool each = false);

// An operating point: the counts of all pictures with a threshold on scores, or at another value of
// what an evaluation varies.
struct OperatingPoint {
  double value = 0;
  Counts counts;
};

// The operating points of the steps of all pictures, by falling score. Those that find no more than
// the point before are left out, except for the last one, at which all detections count.
std::vector<OperatingPoint> curve_of(std::vector<Step> steps);

// The area under the curve of precision over recall, where precision is the best one that has at
// least this recall: the mean of the best precision over all objects. 0 if there are no objects.
double average_precision(std::span<const OperatingPoint> curve, std::size_t objects);

}  // namespace facesat::training

// The parameters with which whole detectors are compared: the CPU's with OpenCV's, CUDA's with the
// CPU's.
#pragma once

#include "core/image.hpp"

namespace facesat::test {

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

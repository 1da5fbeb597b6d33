// The sample sets on which training is compared with opencv_traincascade: the same bytes on every
// machine, so that its results can be stored (tests/oracle/train) and need not be made again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace facesat::test {

struct TrainSet {
  std::string name;
  Size window;
  std::vector<Image<std::uint8_t>> positives, negatives;  // all of the window's size
};

// Made pictures of few grey levels, 20x20: features have equal values in many samples, and are
// equal in quality to others. A few samples are flat, and some pictures are in both classes.
TrainSet shapes_set();

// Faces of 24x24 and parts of photographs without faces. `folder`: FACESAT_TEST_DATA/train.
TrainSet faces_set(const std::filesystem::path& folder);

// Cars from the side, of 30x12, and street scenes and parts of other photographs without cars.
TrainSet cars_set(const std::filesystem::path& folder);

// Of all pixels, positives first. Decoders of JPEG may differ: with another checksum than that of
// the stored results, there is nothing to compare.
std::uint64_t checksum(const TrainSet& set);

}  // namespace facesat::test

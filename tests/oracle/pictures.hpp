// The pictures that detection is compared on: generated ones, so that a fresh machine runs the test
// too, photographs of the demo album (environment variable FACESAT_ALBUM) and of a folder with test
// data (FACESAT_TEST_DATA), where present.
#pragma once

#include <string>
#include <vector>

#include <opencv2/core.hpp>

namespace facesat::test {

struct NamedPicture {
  std::string name;
  cv::Mat gray;  // CV_8UC1
};

// Noise, gradients, flat areas, patterns and odd sizes; the same on every machine.
std::vector<NamedPicture> generated_pictures();

// Photographs, at most `max_pixels` each (larger ones are reduced): all of the album, and every
// fifth of the test data. Empty if there are none.
std::vector<NamedPicture> photographs(std::size_t max_pixels);

}  // namespace facesat::test

// The pictures on which detection is compared: generated ones, so that the test also runs on a
// fresh machine, and, where present, photographs of the demo album (environment variable
// FACESAT_ALBUM) and of a folder with test data (FACESAT_TEST_DATA).
#pragma once

#include <string>
#include <vector>

#include <opencv2/core.hpp>

namespace facesat::test {

struct NamedPicture {
  std::string name;
  cv::Mat gray;  // CV_8UC1
};

// Noise, gradients, uniform areas, patterns and odd sizes; the same on every machine.
std::vector<NamedPicture> generated_pictures();

// Their files: all of the album, and every fifth of the test data.
std::vector<std::string> photograph_files();

// Photographs, at most `max_pixels` each (larger ones are reduced). Empty if there are none.
std::vector<NamedPicture> photographs(std::size_t max_pixels);

}  // namespace facesat::test

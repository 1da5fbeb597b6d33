// A small video in which every frame has a different brightness.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <opencv2/videoio.hpp>

namespace facesat::test {

// 64 x 48 pixels; frame i has the grey value i * 8.
inline void write_video(const std::string& file, int frames, double rate = 50) {
  cv::VideoWriter writer(file, cv::VideoWriter::fourcc('M', 'J', 'P', 'G'), rate, {64, 48});
  ASSERT_TRUE(writer.isOpened());
  for (int i = 0; i < frames; ++i) writer.write(cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(i * 8)));
}

}  // namespace facesat::test

// picture IN OUT: finds the faces in a picture, and writes it with their boxes.
#include <cstdio>

#include <facesat.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: picture IN OUT\n");
    return 2;
  }
  cv::Mat picture = cv::imread(argv[1], cv::IMREAD_COLOR);
  if (picture.empty()) {
    std::fprintf(stderr, "%s cannot be read\n", argv[1]);
    return 1;
  }
  const facesat::Detector detector;
  const auto found = detector.detect({.pixels = picture.data,
                                      .size = {picture.cols, picture.rows},
                                      .pitch = static_cast<std::ptrdiff_t>(picture.step)});
  for (const facesat::Face& face : found.faces) {
    std::printf("%d,%d %dx%d\n", face.box.x, face.box.y, face.box.width, face.box.height);
    cv::rectangle(picture, {face.box.x, face.box.y, face.box.width, face.box.height}, {0, 255, 0},
                  2);
  }
  if (!cv::imwrite(argv[2], picture)) {
    std::fprintf(stderr, "%s cannot be written\n", argv[2]);
    return 1;
  }
} catch (const facesat::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// camera [NUMBER or FILE]: shows a camera (0) or a video with the boxes of faces; q ends it.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <facesat.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

int main(int argc, char** argv) try {
  const std::string source = argc > 1 ? argv[1] : "0";
  const bool is_number = source.find_first_not_of("0123456789") == source.npos;
  cv::VideoCapture camera;
  if (!(is_number ? camera.open(std::atoi(source.c_str())) : camera.open(source))) {
    std::fprintf(stderr, "%s cannot be opened\n", source.c_str());
    return 1;
  }
  const facesat::Detector detector("frontalface_default", {.min_size = {40, 40}});
  int frames = 0;
  std::size_t faces = 0;
  for (cv::Mat frame; camera.read(frame); ++frames) {
    const auto found = detector.detect({.pixels = frame.data,
                                        .size = {frame.cols, frame.rows},
                                        .pitch = static_cast<std::ptrdiff_t>(frame.step)});
    faces += found.faces.size();
    for (const auto& [box, neighbors, score, cascade] : found.faces)
      cv::rectangle(frame, {box.x, box.y, box.width, box.height}, {0, 255, 0}, 2);
    if (!std::getenv("DISPLAY")) continue;
    cv::imshow("facesat", frame);
    if (cv::waitKey(1) == 'q') break;
  }
  std::printf("%d frames, %zu faces\n", frames, faces);
} catch (const facesat::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// Frames with their boxes, into a film.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/io/results.hpp"
#include "core/image.hpp"

namespace facesat::app {

class Recorder {
 public:
  Recorder();
  ~Recorder();

  // What is added from now on goes into `file` (.avi, .mp4 ...); empty: nowhere, the film before is
  // finished.
  void set(const std::string& file, double frames_per_second);
  // Frames of another size than the first are left out, with a message.
  void add(View<const Bgr> frame, const std::vector<FoundFace>& faces);
  std::string message() const;

 private:
  struct Film;

  mutable std::mutex mutex_;
  std::string file_, message_;
  double frames_per_second_ = 25;
  std::unique_ptr<Film> film_;
};

}  // namespace facesat::app

// Frames with their boxes, into a video.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "library/io/results.hpp"

namespace facesat::app {

class Recorder {
 public:
  Recorder();
  ~Recorder();

  // Can a video be written under this name? By its extension.
  static bool knows(const std::filesystem::path& file);
  static std::string extensions();  // those known, in words

  // What is added from now on goes into `file`, which knows() admits; empty: nowhere. The video
  // before is finished.
  void set(const std::string& file, double frames_per_second);
  // Frames of another size than the first are left out, with a remark. Throws nothing: what goes
  // wrong ends the recording with a failure.
  void add(View<const Bgr> frame, const std::vector<FoundFace>& faces);

  // What the user should know about the last video, which may be whole all the same.
  std::string remark() const;
  // Why the last video is missing or not whole; empty: nothing is known to be wrong with it.
  std::string failure() const;

 private:
  struct Video;

  void begin(Size size);
  void finish();
  void fail(const std::string& reason);

  std::mutex mutex_;
  std::string file_;
  double frames_per_second_ = 25;
  std::unique_ptr<Video> video_;  // from the first frame on

  mutable std::mutex said_;  // to be asked for what it guards, nobody waits for a frame
  std::string remark_, failure_;
};

}  // namespace facesat::app

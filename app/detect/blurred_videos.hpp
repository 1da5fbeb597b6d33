// --blur of videos: writes the frames, whose faces have been blurred, into videos, with the sound
// of the input.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/detect/item.hpp"
#include "app/detect/progress.hpp"
#include "results/picture_folder.hpp"

namespace facesat::app {

class BlurredVideos {
 public:
  // `folder`: null if no videos are written.
  BlurredVideos(const PictureFolder* folder, Progress& progress);
  ~BlurredVideos();

  // Adds the frame that the item has, if it has one, to its video. To be called for all items in
  // their order, before their records are written: with the last record of a video, the video is
  // complete. A frame that was not searched becomes black, because its faces are not known.
  //
  // A video that cannot be written is a failure of its last item, one without its sound a warning;
  // what concerns all videos, as a full disk, is Item::error. Returns false if the run was
  // interrupted meanwhile, so that the item's record must not be written.
  bool take(Item& item);

 private:
  struct Video;

  void add(Item& item);
  void finish(Item& item);
  void add_sound(const std::filesystem::path& input);

  const PictureFolder* folder_;
  Progress& progress_;
  std::unique_ptr<Video> video_;  // from its first frame on
  std::string failure_;           // why the current video is not written; else empty
  bool has_said_ = false;         // that there is no ffmpeg
};

}  // namespace facesat::app

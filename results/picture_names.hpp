// Makes names for annotated pictures (with boxes around the faces) and crops (one for each face).
#pragma once

#include <functional>
#include <memory_resource>
#include <set>
#include <string>
#include <string_view>

namespace facesat {

// Names are relative to the output folder and unique, whatever the inputs are called. The same
// inputs in the same order get the same names.
class PictureNames {
 public:
  // The name of the annotated picture, ending like a JPEG or in .png. For a video, the beginning of
  // the names of its frames.
  std::string add(const std::string& image, bool is_video);

  static std::string of_frame(const std::string& video, int frame);  // VIDEO_000012.jpg
  // VIDEO, or VIDEO.mkv if no video can be written under that name.
  static std::string of_video(const std::string& video);
  static std::string of_crop(const std::string& picture, int face);  // PICTURE_1.png

 private:
  bool is_free(std::string_view name) const;

  // used_: the names in use. origins_: for each of them that looks like the name of a frame or
  // crop, the name of the video or picture that such a frame or crop would belong to.
  std::pmr::monotonic_buffer_resource memory_{1 << 20};  // of their own, as in Journal
  std::pmr::set<std::pmr::string, std::less<>> used_{&memory_}, origins_{&memory_};
};

// The path of a picture made from `image`, relative to the output folder and never outside it.
std::string name_below(const std::string& image, bool is_video);

}  // namespace facesat

#include <utility>

#include <fmt/format.h>

#include "app/detect/picture_output.hpp"
#include "core/crop.hpp"
#include "media/frame_source.hpp"
#include "results/annotate.hpp"
#include "results/blur.hpp"
#include "results/picture_names.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::app {

PictureOutput::PictureOutput(const char* option, const std::string& folder)
    : option_(fmt::format("{} {}", option, folder)), folder_(folder) {}

namespace {

bool is_video(const std::string& input) {
  return has_extension(input, video_extensions());
}

// --blur: all pictures and videos, with their faces made unrecognisable.
class Blurred final : public PictureOutput {
 public:
  explicit Blurred(const DetectCommand& command)
      : PictureOutput("--blur", command.blur), style_(command.blur_style) {}

  // Frames are kept: they go into a video, in their order. A video that is resumed begins again
  // with its first frame.
  void write(Item& item, View<const Bgr> picture) const override {
    Image<Bgr> blurred = with_blurred(picture, item.record.faces, style_);
    if (item.record.frame)
      item.blurred = std::move(blurred);
    else
      folder().write(item.picture_name, blurred.view(), item.path);
  }
  std::string name_for(const std::string& input) const override {
    return is_video(input) ? PictureNames::of_video(name_below(input, true))
                           : name_below(input, false);
  }
  std::string what(const std::string& input) const override {
    return is_video(input) ? "the video with blurred faces" : "the picture with blurred faces";
  }
  const PictureFolder* videos() const override { return &folder(); }

 private:
  BlurStyle style_;
};

// --annotate: pictures with boxes around the faces.
class Annotated final : public PictureOutput {
 public:
  explicit Annotated(const DetectCommand& command)
      : PictureOutput("--annotate", command.annotate) {}

  void write(Item& item, View<const Bgr> picture) const override {
    if (item.earlier) return;
    folder().write(item.picture_name, with_boxes(picture, item.record.faces).view(), item.path);
  }
  std::string name_for(const std::string& input) const override { return name_below(input, false); }
  std::string what(const std::string&) const override { return "the picture with boxes"; }
};

// --crops: a picture of each face.
class Crops final : public PictureOutput {
 public:
  explicit Crops(const DetectCommand& command)
      : PictureOutput("--crops", command.crops),
        options_(command.crop),
        max_pixels_(command.search.max_pixels) {}

  void write(Item& item, View<const Bgr> picture) const override {
    if (item.earlier) return;
    int number = 0;
    for (const Face& found : item.record.faces) {
      const std::string name = PictureNames::of_crop(item.picture_name, ++number);
      folder().write(name, crop_of(picture, found.box).view(), item.path);
      item.record.crops.push_back(name);
    }
    // Deletes the remaining crops of an earlier run that found more faces. Some may have been
    // deleted by hand, so the numbers may have gaps.
    constexpr int widest_gap = 100;
    for (int missing = 0; missing < widest_gap; ++missing)
      if (folder().remove(PictureNames::of_crop(item.picture_name, ++number), item.path))
        missing = 0;
  }
  std::string name_for(const std::string&) const override { return ""; }
  std::string what(const std::string&) const override { return ""; }

 private:
  // Throws InputError if the crop would have too many pixels.
  Image<Bgr> crop_of(View<const Bgr> picture, const Rect& box) const {
    const Rect region = crop_region(box, options_);
    const Size size{region.width, region.height};
    if (options_.size.area() == 0 && size.area() > max_pixels_)
      throw InputError("write",
                       fmt::format("a crop of {}x{} pixels is larger than --max-pixels allows; "
                                   "--crop-size or a smaller --crop-margin helps",
                                   size.width, size.height));
    return crop(picture, box, options_);
  }

  CropOptions options_;
  std::size_t max_pixels_;
};

}  // namespace

std::vector<std::unique_ptr<PictureOutput>> make_picture_outputs(const DetectCommand& command) {
  std::vector<std::unique_ptr<PictureOutput>> outputs;
  if (!command.blur.empty()) outputs.push_back(std::make_unique<Blurred>(command));
  if (!command.annotate.empty()) outputs.push_back(std::make_unique<Annotated>(command));
  if (!command.crops.empty()) outputs.push_back(std::make_unique<Crops>(command));
  return outputs;
}

}  // namespace facesat::app

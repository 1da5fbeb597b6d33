#include "app/detect/process.hpp"

#include <functional>
#include <utility>

#include <fmt/format.h>

#include "results/annotate.hpp"
#include "results/blur.hpp"
#include "results/crop.hpp"
#include "results/picture_names.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"

namespace facesat::app {
namespace {

// Throws InputError if the crop would have too many pixels.
Image<Bgr> crop_within(std::size_t max_pixels, View<const Bgr> picture, const Rect& box,
                       const CropOptions& options) {
  const Rect region = crop_region(box, options);
  const Size size{region.width, region.height};
  if (options.size.area() == 0 && size.area() > max_pixels)
    throw InputError("write", fmt::format("a crop of {}x{} pixels is larger than --max-pixels "
                                          "allows; --crop-size or a smaller --crop-margin helps",
                                          size.width, size.height));
  return crop(picture, box, options);
}

// Frames with blurred faces are kept: they go into a video, in their order.
void write_blurred(Item& item, View<const Bgr> picture, const PictureFolders& folders,
                   BlurStyle style) {
  if (!folders.blur) return;
  Image<Bgr> blurred = with_blurred(picture, item.record.faces, style);
  if (item.record.frame)
    item.blurred = std::move(blurred);
  else
    folders.blur->write(item.picture_name, blurred.view(), item.path);
}

void write_crops(const Item& item, View<const Bgr> picture, const PictureFolder& folder,
                 const DetectCommand& command) {
  int number = 0;
  for (const Face& found : item.record.faces)
    folder.write(PictureNames::of_crop(item.picture_name, ++number),
                 crop_within(command.search.max_pixels, picture, found.box, command.crop).view(),
                 item.path);
  // Deletes the remaining crops of an earlier run that found more faces. Some may have been deleted
  // by hand, so the numbers may have gaps.
  constexpr int widest_gap = 100;
  for (int missing = 0; missing < widest_gap; ++missing)
    if (folder.remove(PictureNames::of_crop(item.picture_name, ++number), item.path)) missing = 0;
}

// Writes the pictures that were asked for.
void write_pictures(Item& item, View<const Bgr> picture, const PictureFolders& folders,
                    const DetectCommand& command) {
  write_blurred(item, picture, folders, command.blur_style);
  if (item.earlier) return;
  if (folders.annotate)
    folders.annotate->write(item.picture_name, with_boxes(picture, item.record.faces).view(),
                            item.path);
  if (folders.crops) write_crops(item, picture, *folders.crops, command);
}

}  // namespace

void process(Item& item, const Detector& detector, const DetectCommand& command,
             const PictureFolders& folders) {
  Record& record = item.record;
  // A video with blurred faces begins again with its first frame.
  const bool is_needed = !item.earlier || (item.frame && folders.blur);
  if (!is_needed || record.failure) return;
  const auto write = [&](Picture picture) {
    picture = in_colour(std::move(picture));
    write_pictures(item, picture.pixels, folders, command);
    if (command.show && !item.earlier) item.shown = with_boxes(picture.pixels, record.faces);
  };
  const bool has_pictures = folders.any() || command.show;
  try {
    Source source{[&item] { return item.open(); }, std::exchange(item.frame, std::nullopt)};
    item.stopped = !make_record(record, std::move(source), detector, command.search, interrupted,
                                has_pictures ? write : std::function<void(Picture)>());
  } catch (...) {
    item.error = std::current_exception();
  }
}

}  // namespace facesat::app

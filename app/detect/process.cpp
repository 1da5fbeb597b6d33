#include "app/detect/process.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "app/detect/orientation.hpp"
#include "media/codec.hpp"
#include "results/annotate.hpp"
#include "results/blur.hpp"
#include "results/crop.hpp"
#include "results/failure.hpp"
#include "results/picture_names.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"

namespace facesat::app {
namespace {

using Clock = std::chrono::steady_clock;

// The faces of a picture that are kept; of equal ones, the first. Any cascade may have found it.
std::vector<Face> kept_of(std::vector<Face> faces, Kept kept) {
  if (kept == Kept::all || faces.empty()) return faces;
  const auto is_less = [kept](const Face& a, const Face& b) {
    const auto area = [](const Face& face) { return Size{face.box.width, face.box.height}.area(); };
    return kept == Kept::best ? a.score < b.score : area(a) < area(b);
  };
  return {*std::max_element(faces.begin(), faces.end(), is_less)};
}

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
                 crop_within(command.max_pixels, picture, found.box, command.crop).view(),
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

// Decodes the picture, finds faces and writes pictures; completes the record.
void find_faces(Item& item, const Detector& detector, const DetectCommand& command,
                const PictureFolders& folders) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(command.max_seconds));
  const ShouldStop should_stop = [deadline] { return interrupted() || Clock::now() > deadline; };
  Record& record = item.record;
  const bool is_picture = !item.frame;
  Picture picture = item.frame ? std::move(*item.frame)
                               : read_picture(item.open(), {command.max_pixels, should_stop},
                                              command.luma ? Reading::luma : Reading::colour);
  item.frame.reset();
  record.warning = picture.warning;
  record.size = picture.size();
  if (command.turns && is_picture)
    record.faces = turn_upright(picture, detector, should_stop);
  else
    record.faces = detector.detect(image_view(picture), should_stop).faces;
  if (command.turns) record.orientation = picture.orientation;
  record.size = picture.size();  // it may have been turned
  sort_by_place(record.faces);
  record.faces = kept_of(std::move(record.faces), command.kept);
  if (!folders.any() && !command.show) return;
  picture = in_colour(std::move(picture));
  write_pictures(item, picture.pixels, folders, command);
  if (command.show && !item.earlier) item.shown = with_boxes(picture.pixels, record.faces);
}

}  // namespace

void process(Item& item, const Detector& detector, const DetectCommand& command,
             const PictureFolders& folders) {
  Record& record = item.record;
  // A video with blurred faces begins again with its first frame.
  const bool is_needed = !item.earlier || (item.frame && folders.blur);
  if (!is_needed || record.failure) return;
  try {
    find_faces(item, detector, command, folders);
  } catch (const Stopped&) {
    item.stopped = interrupted();  // then the record is not written; else time ran out
    record.failure = failure_of(std::current_exception(), command.max_seconds);
  } catch (...) {
    record.failure = failure_of(std::current_exception(), command.max_seconds);
    if (!record.failure) item.error = std::current_exception();
  }
}

}  // namespace facesat::app

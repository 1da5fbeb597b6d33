#include "app/detect/process.hpp"

#include <chrono>

#include "app/detect/orientation.hpp"
#include "library/io/annotate.hpp"
#include "library/io/failure.hpp"
#include "library/io/picture_names.hpp"
#include "library/media/codec.hpp"
#include "library/support/errors.hpp"
#include "library/support/interrupt.hpp"

namespace facesat::app {
namespace {

using Clock = std::chrono::steady_clock;

// Writes the annotated picture and the crops, where they were asked for.
void write_pictures(const Item& item, View<const Bgr> picture, const PictureFolders& folders) {
  const std::vector<Face>& faces = item.record.faces;
  if (folders.annotate)
    folders.annotate->write(item.picture_name, with_boxes(picture, faces).view(), item.path);
  if (!folders.crops) return;
  int number = 0;
  for (const Face& found : faces)
    folders.crops->write(PictureNames::of_crop(item.picture_name, ++number), picture.sub(found.box),
                         item.path);
  // Deletes the remaining crops of an earlier run that found more faces. Some may have been deleted
  // by hand, so the numbers may have gaps.
  constexpr int widest_gap = 100;
  for (int missing = 0; missing < widest_gap; ++missing)
    if (folders.crops->remove(PictureNames::of_crop(item.picture_name, ++number), item.path))
      missing = 0;
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
  if (command.turns && is_picture)
    record.faces = turn_upright(picture, detector, should_stop);
  else
    record.faces = detector.detect(image_view(picture), should_stop).faces;
  if (command.turns) record.orientation = picture.orientation;
  record.size = picture.size();
  sort_by_place(record.faces);
  if (!folders.any() && !command.show) return;
  picture = in_colour(std::move(picture));
  write_pictures(item, picture.pixels, folders);
  if (command.show) item.shown = with_boxes(picture.pixels, record.faces);
}

}  // namespace

void process(Item& item, const Detector& detector, const DetectCommand& command,
             const PictureFolders& folders) {
  Record& record = item.record;
  if (item.earlier || record.failure) return;
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

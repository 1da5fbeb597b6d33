#include "app/detect/process.hpp"

#include <functional>
#include <utility>

#include "results/annotate.hpp"
#include "support/interrupt.hpp"

namespace facesat::app {

void process(Item& item, const Detector& detector, const DetectCommand& command,
             const OutputSet& outputs) {
  Record& record = item.record;
  // A video with blurred faces begins again with its first frame.
  const bool is_needed = !item.earlier || (item.frame && outputs.videos());
  if (!is_needed || record.failure) return;
  const auto write = [&](Picture picture) {
    picture = in_colour(std::move(picture));
    outputs.write(item, picture.pixels);
    if (command.show && !item.earlier) item.shown = with_boxes(picture.pixels, record.faces);
  };
  const bool has_pictures = outputs.has_pictures() || command.show;
  try {
    Source source{[&item] { return item.open(); }, std::exchange(item.frame, std::nullopt)};
    item.stopped = !make_record(record, std::move(source), detector, command.search, interrupted,
                                has_pictures ? write : std::function<void(Picture)>());
  } catch (...) {
    item.error = std::current_exception();
  }
}

}  // namespace facesat::app

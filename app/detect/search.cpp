#include "app/detect/search.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "app/detect/orientation.hpp"
#include "core/grouping.hpp"
#include "results/failure.hpp"

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

Picture search(Record& record, Source source, const Detector& detector,
               const SearchOptions& options, const ShouldStop& should_stop) {
  const bool is_frame = source.frame.has_value();
  Picture picture = is_frame ? std::move(*source.frame)
                             : read_picture(source.open(), {options.max_pixels, should_stop},
                                            options.luma ? Reading::luma : Reading::colour);
  record.warning = picture.warning;
  record.size = picture.size();
  if (options.turns && !is_frame)
    record.faces = turn_upright(picture, detector, should_stop);
  else
    record.faces = detector.detect(image_view(picture), should_stop).faces;
  if (options.turns) record.orientation = picture.orientation;
  record.size = picture.size();  // it may have been turned
  sort_by_place(record.faces);
  record.faces = kept_of(std::move(record.faces), options.kept);
  return picture;
}

}  // namespace

const std::vector<Field<SearchOptions>>& search_fields() {
  static const std::vector<Field<SearchOptions>> fields{
      {"luma", &SearchOptions::luma, "",
       "Read only the luma of JPEGs, as cv::IMREAD_GRAYSCALE does: faster, and faces may differ a "
       "little"},
      {"orient", choice<&SearchOptions::turns>({"exif", "auto"}), "",
       "auto: search pictures without an EXIF orientation in all four, and keep the most "
       "convincing one [exif]"},
  };
  return fields;
}

bool make_record(Record& record, Source source, const Detector& detector,
                 const SearchOptions& options, const ShouldStop& should_end,
                 const std::function<void(Picture)>& use) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(options.max_seconds));
  const ShouldStop should_stop = [&should_end, deadline] {
    return should_end() || Clock::now() > deadline;
  };
  try {
    Picture picture = search(record, std::move(source), detector, options, should_stop);
    if (use) use(std::move(picture));
  } catch (const Stopped&) {
    record.failure = failure_of(std::current_exception(), options.max_seconds);
    return !should_end();
  } catch (...) {
    record.failure = failure_of(std::current_exception(), options.max_seconds);
    if (!record.failure) throw;
  }
  return true;
}

}  // namespace facesat::app

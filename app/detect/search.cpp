#include "app/detect/search.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/common/device_jpegs.hpp"
#include "core/grouping.hpp"
#include "library/detect/detector_pool.hpp"
#include "media/exif.hpp"
#include "support/errors.hpp"

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

// How convincing a result is: false faces are merged from a few windows, so that the windows tell
// more than the faces, and then the sum of scores.
std::pair<std::size_t, double> evidence(const std::vector<Face>& faces) {
  std::pair<std::size_t, double> sum;
  for (const Face& found : faces) {
    sum.first += static_cast<std::size_t>(found.neighbors);
    sum.second += found.score;
  }
  return sum;
}

// Finds the faces in a picture. If its orientation is unknown, searches it as it is and rotated by
// 90, 180 and 270 degrees, turns it to where the result is the most convincing, and notes that
// orientation (EXIF: 1, 6, 3 or 8). Throws as Detector::detect(), and MemoryError.
std::vector<Face> turn_upright(Picture& picture, const Detector& detector,
                               const ShouldStop& should_stop) {
  const auto faces_in = [&](const Picture& turned) {
    return detector.detect(image_view(turned), should_stop).faces;
  };
  std::vector<Face> faces = faces_in(picture);
  if (picture.orientation != 0) return faces;
  const Picture original = picture;
  picture.orientation = 1;
  for (const int orientation : {6, 8, 3}) {
    Picture turned = upright(original, orientation);
    std::vector<Face> found = faces_in(turned);
    if (evidence(found) <= evidence(faces)) continue;
    faces = std::move(found);
    picture = std::move(turned);
  }
  return faces;
}

// What an exception means for the record of the picture that it was thrown for; nullopt for errors
// that end the run (OutputError, DeviceError). Stopped means that the picture took longer than
// `max_seconds`. `error` must not be null.
std::optional<Failure> failure_of(const std::exception_ptr& error, double max_seconds) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& input) {
    return Failure{input.kind, input.what()};
  } catch (const MemoryError& memory) {
    return Failure{"memory", memory.what()};
  } catch (const std::bad_alloc&) {
    return Failure{"memory", "there is not enough memory for this picture"};
  } catch (const ArgumentError& argument) {
    return Failure{"argument", argument.what()};
  } catch (const Stopped&) {
    return Failure{"limit", fmt::format("it would take longer than {:g} seconds; --max-seconds "
                                        "raises the limit",
                                        max_seconds)};
  } catch (const OutputError&) {
    return std::nullopt;
  } catch (const DeviceError&) {
    return std::nullopt;
  } catch (...) {
    return Failure{"internal", reason_of(error)};
  }
}

Picture read(const InputFile& file, const SearchOptions& options, const ShouldStop& should_stop) {
  return read_picture(file, {options.max_pixels, should_stop},
                      options.luma ? Reading::luma : Reading::colour);
}

// Searches a JPEG that devices decode, and returns the picture if `needs_pixels`. nullopt: it is
// none, or of a kind that is left to libjpeg-turbo.
std::optional<Picture> search_encoded(Record& record, const InputFile& file,
                                      const Detector& detector, const SearchOptions& options,
                                      const ShouldStop& should_stop, bool needs_pixels) {
  if (!detector.pool().decodes_jpegs() || !file.beginning().starts_with("\xFF\xD8\xFF"))
    return std::nullopt;
  const std::optional<DeviceJpeg> jpeg = read_device_jpeg(file.read(), options.max_pixels);
  if (!jpeg) return std::nullopt;
  record.warning = jpeg->warning;
  record.size = jpeg->size;
  Picture picture;
  const auto decode = [&] {
    record.warning.clear();
    record.size = {};
    picture = read(file, options, should_stop);
    record.warning = picture.warning;
    record.size = picture.size();
    return image_view(picture);
  };
  const auto keep = [&](const ImageView& decoded) {
    if (needs_pixels) picture = downloaded(decoded, *jpeg);
  };
  const EncodedImage image{jpeg->stream, options.luma, jpeg->orientation, decode, keep};
  record.faces = detector.pool().detect_encoded(image, should_stop).faces;
  return picture;
}

// Searches a picture whose pixels need no decoding. false: it is none.
bool search_in_file(Record& record, const InputFile& file, const Detector& detector,
                    const SearchOptions& options, const ShouldStop& should_stop) {
  std::optional<PixelsInFile> found = pixels_in_file(file, {options.max_pixels, should_stop});
  if (!found) return false;
  record.warning = std::move(found->warning);
  record.size = found->pixels.size;
  record.faces = detector.detect(found->pixels, should_stop).faces;
  return true;
}

// Returns the picture if `needs_pixels`.
Picture search(Record& record, PendingPicture pending, const Detector& detector,
               const SearchOptions& options, const ShouldStop& should_stop, bool needs_pixels) {
  Picture picture;
  if (pending.frame) {
    picture = std::move(*pending.frame);
  } else {
    const InputFile file = pending.open();
    if (!options.tries_orientations) {
      if (auto found = search_encoded(record, file, detector, options, should_stop, needs_pixels))
        return std::move(*found);
      if (!needs_pixels && search_in_file(record, file, detector, options, should_stop)) return {};
    }
    picture = read(file, options, should_stop);
  }
  record.warning = picture.warning;
  record.size = picture.size();
  if (options.tries_orientations && !pending.frame)
    record.faces = turn_upright(picture, detector, should_stop);
  else
    record.faces = detector.detect(image_view(picture), should_stop).faces;
  if (options.tries_orientations) record.orientation = picture.orientation;
  record.size = picture.size();  // it may have been turned
  return picture;
}

}  // namespace

const std::vector<Field<SearchOptions>>& search_fields() {
  static const std::vector<Field<SearchOptions>> fields{
      {"luma", &SearchOptions::luma, "",
       "Read only the luma of JPEGs, as cv::IMREAD_GRAYSCALE does: faster, and faces may differ a "
       "little"},
      {"orient", choice<&SearchOptions::tries_orientations>({"exif", "auto"}), "",
       "auto: search pictures without an EXIF orientation in all four, and keep the most "
       "convincing one [exif]"},
  };
  return fields;
}

bool make_record(Record& record, PendingPicture pending, const Detector& detector,
                 const SearchOptions& options, const ShouldStop& should_end,
                 const std::function<void(Picture)>& use) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(options.max_seconds));
  const ShouldStop should_stop = [&should_end, deadline] {
    return should_end() || Clock::now() > deadline;
  };
  try {
    Picture picture =
        search(record, std::move(pending), detector, options, should_stop, use != nullptr);
    sort_by_place(record.faces);
    record.faces = kept_of(std::move(record.faces), options.kept);
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

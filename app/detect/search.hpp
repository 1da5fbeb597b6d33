// From a picture to its record: decoding, the search for faces, and what goes wrong.
#pragma once

#include <functional>
#include <vector>

#include "app/common/fields.hpp"
#include "facesat.hpp"
#include "media/codec.hpp"
#include "results/results.hpp"

namespace facesat::app {

enum class Kept { all, best, biggest };  // which faces of a picture are kept

struct SearchOptions {
  bool luma = false;  // JPEGs are read as Reading::luma
  // Pictures whose files state no orientation are searched in all four, and turned to where the
  // faces are upright.
  bool tries_orientations = false;
  Kept kept = Kept::all;
  std::size_t max_pixels = default_max_pixels;  // of a picture or frame
  double max_seconds = 60;                      // for a picture or frame
};

const std::vector<Field<SearchOptions>>& search_fields();  // --luma and --orient

// A picture to be searched: read when its turn comes, or a decoded frame of a video, which is never
// turned.
struct PendingPicture {
  std::function<InputFile()> open;
  std::optional<Picture> frame{};
};

// Completes `record`, which names the picture; then calls use(picture), if there is such a
// function, within the same time limit. What goes wrong with this picture becomes record.failure.
// Returns false if `should_end` ended the work, so that the record counts for nothing. Throws what
// ends the run: OutputError and DeviceError. May be called by any number of threads.
bool make_record(Record& record, PendingPicture pending, const Detector& detector,
                 const SearchOptions& options, const ShouldStop& should_end,
                 const std::function<void(Picture)>& use = {});

}  // namespace facesat::app

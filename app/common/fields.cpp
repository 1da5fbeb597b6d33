#include "app/common/fields.hpp"

#include <algorithm>

namespace facesat::app {

const std::vector<Field<DetectOptions>>& detection_fields() {
  static const std::vector<Field<DetectOptions>> fields{
      {"scale-factor", &DetectOptions::scale_factor, "F",
       "Between the levels of the pyramid [1.1]"},
      {"min-neighbors", &DetectOptions::min_neighbors, "N",
       "Similar windows that a face needs, as in OpenCV; 0: no grouping [3]"},
      {"min-size", &DetectOptions::min_size, "N|WxH", "Smallest face; 0: no limit"},
      {"max-size", &DetectOptions::max_size, "N|WxH", "Largest face; 0: no limit"},
      {"scan", choice<&DetectOptions::scan>({"opencv", "dense"}), "",
       "dense: every position of every level, no skip rule [opencv]"},
      {"equalize", &DetectOptions::equalize, "", "Equalise the histogram first"},
      {"min-score", &DetectOptions::min_score, "S", "Leave out faces of lower scores [any]"},
      {"inside-of", &DetectOptions::inside_of, "NAME",
       "With several cascades: the one inside whose faces the others search [the whole picture]"},
      {"only-with-inner", &DetectOptions::only_with_inner, "",
       "Leave out its faces inside which the others find nothing, such as faces without eyes"},
  };
  return fields;
}

const std::vector<Field<BackendOptions>>& backend_fields() {
  static const std::vector<Field<BackendOptions>> fields{
      {"backend", choice<&BackendOptions::choice>({"auto", "cpu", "cuda"}), "",
       "auto: CUDA where there is a usable device, else the CPU [auto]"},
      {"device", &BackendOptions::device, "N|all",
       "CUDA device, as 'facesat info' numbers them; all: every one [0]"},
      {"sat", &BackendOptions::sat, "ID",
       "SAT algorithm of the GPU, as 'facesat info' lists them; ID:VALUE sets its parameter "
       "[the fastest]"},
  };
  return fields;
}

const std::vector<Field<FrameChoice>>& frame_fields() {
  static const std::vector<Field<FrameChoice>> fields{
      {"every", &FrameChoice::every, "N",
       "Search only every Nth frame of videos, and of animated GIFs [all of videos, the first of "
       "GIFs]"},
      {"fps", &FrameChoice::per_second, "F",
       "Search that many frames per second of videos, by their time, and of animated GIFs"},
  };
  return fields;
}

const std::vector<Field<CropOptions>>& crop_fields() {
  static const std::vector<Field<CropOptions>> fields{
      {"crop-margin", &CropOptions::margin, "F",
       "Crops show more around the face: this fraction of its size at each side [0]"},
      {"crop-size", &CropOptions::size, "N|WxH",
       "All crops in this size: extended to its aspect ratio, then resized"},
  };
  return fields;
}

const Field<DetectOptions>& detection_field(std::string_view name) {
  return *std::ranges::find(detection_fields(), name, &Field<DetectOptions>::name);
}

}  // namespace facesat::app

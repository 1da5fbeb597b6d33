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

const std::vector<Field<SampleOptions>>& sample_fields() {
  using O = SampleOptions;
  static const std::vector<Field<O>> fields{
      {"window", &O::window, "N|WxH", "The size of the samples [24x24]"},
      {"aspect", choice<&O::aspect>({"stretch", "keep"}), "",
       "Stretch boxes of another aspect ratio to the window, or make them wider or higher first "
       "[stretch]"},
      {"copies", &O::copies, "N",
       "Varied copies of each object, in addition to the object itself [0]"},
      {"shift", &O::shift, "F", "Shift copies by up to this fraction of the box [0]"},
      {"scale", &O::scale, "F", "Enlarge or shrink what copies show; 0.1: up to 1.1 times [0]"},
      {"turn", &O::turn, "DEGREES", "Turn copies by up to this angle [0]"},
      {"brightness", &O::brightness, "LEVELS",
       "Make copies up to this much brighter or darker [0]"},
      {"contrast", &O::contrast, "F", "Change the contrast of copies; 0.1: up to 1.1 times [0]"},
      {"mirror", &O::mirror, "", "Add the mirror image of each sample"},
      {"seed", &O::seed, "N", "Of all that is left to chance [1]"},
  };
  return fields;
}

const std::vector<Field<TrainOptions>>& training_fields() {
  using O = TrainOptions;
  static const std::vector<Field<O>> fields{
      {"features", choice<&O::features>({"haar-basic", "haar-core", "haar-all", "lbp"}), "",
       "What is chosen from. haar-basic: two to four rectangles; haar-core: also four in a row, "
       "and "
       "one in a centre; haar-all: also those turned by 45 degrees; lbp: local binary patterns, "
       "which train and detect faster [haar-basic]"},
      {"boosting", choice<&O::boosting>({"gentle", "real", "discrete", "logit"}), "",
       "Gentle, Real or Discrete AdaBoost, or LogitBoost [gentle]"},
      {"stages", &O::stages, "N", "The most stages [20]"},
      {"hit-rate", &O::hit_rate, "RATE",
       "The part of the positives that must pass each stage [0.995]"},
      {"false-alarms", &O::false_alarms, "RATE",
       "The part of the negatives that may pass each stage [0.5]"},
      {"goal", &O::goal, "RATE",
       "End when no more than this part of all windows without objects passes [that of "
       "--false-alarms in all stages]"},
      {"trim", &O::trim, "RATE",
       "A tree learns from the heaviest samples, with this part of the weight [0.95]"},
      {"depth", &O::depth, "N", "The depth of trees; 1: stumps [1]"},
      {"trees", &O::trees, "N", "The most trees of a stage [100]"},
      {"bins", &O::bins, "N",
       "Thresholds between this many bins of each feature's values [exact thresholds]"},
      {"thresholds-by-held-out", &O::thresholds_by_held_out, "",
       "Stages let --hit-rate of the positives held out pass, not of those learnt from"},
      {"positives-per-stage", &O::positives_per_stage, "N",
       "The most positives of a stage, chosen at random [all]"},
      {"negatives-per-stage", &O::negatives_per_stage, "N",
       "The most negatives of a stage [as many as positives]"},
      {"held-out", &O::held_out, "RATE",
       "The part of all samples that nothing is learnt from, to see over-training [0.1]"},
      {"per-picture", &O::per_picture, "N",
       "The most negatives of a picture and stage [as many as are needed, spread evenly]"},
      {"scale-factor", &O::scale_factor, "F",
       "Between the sizes at which pictures are searched for negatives [1.1]"},
      {"mirrored-negatives", &O::mirrored_negatives, "",
       "Search the mirror images of pictures for negatives, too"},
      {"memory", &O::memory, "MIB",
       "For the features' values, in MiB; a GPU uses what it has [4096]"},
  };
  return fields;
}

const Field<DetectOptions>& detection_field(std::string_view name) {
  return *std::ranges::find(detection_fields(), name, &Field<DetectOptions>::name);
}

}  // namespace facesat::app

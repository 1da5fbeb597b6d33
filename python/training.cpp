// facesat.train() and facesat.evaluate(), for python/facesat/_training.py.
#include "python/training.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <nlohmann/json.hpp>
#include <tbb/task_arena.h>

#include "app/evaluate/measurement.hpp"
#include "app/evaluate/report.hpp"
#include "datasets/negatives.hpp"
#include "datasets/positives.hpp"
#include "library/training.hpp"
#include "python/arrays.hpp"
#include "python/options.hpp"
#include "python/signals.hpp"

namespace nb = nanobind;

namespace facesat::python {
namespace {

using Boxes = std::vector<std::tuple<int, int, int, int>>;

// Of train(): a list of paths, or of pairs of an array and the boxes in it.
class Images {
 public:
  explicit Images(const nb::list& given) {
    for (const nb::handle one : given) {
      if (nb::isinstance<nb::str>(one)) {
        paths.push_back(nb::cast<std::string>(one));
        continue;
      }
      const auto [array, boxes] = nb::cast<std::tuple<nb::object, Boxes>>(one);
      arrays_.push_back(image_of(array, nb::none()));
      images.push_back({arrays_.back().view, {}});
      for (const auto& [x, y, width, height] : boxes)
        images.back().objects.push_back({x, y, width, height});
    }
  }

  std::vector<std::string> paths;
  std::vector<TrainingImage> images;

 private:
  std::vector<PythonImage> arrays_;
};

struct TrainCall {
  Images positives, negatives;
  std::vector<std::string> labels;
  TrainingChoice options;
  std::shared_ptr<const Cascade> start;
  std::vector<std::string> warnings{};

  // Called without the GIL.
  Training run(const OnStage& on_stage, const ShouldStop& should_stop) {
    check(options.samples);
    check(options.training);
    auto objects =
        positives.paths.empty() ? samples_of(positives.images, options.samples) : read_positives();
    auto pictures = negatives.paths.empty() ? negatives_of(negatives.images) : read_negatives();
    Training result =
        facesat::train(objects, std::move(pictures), options.samples, options.training,
                       options.backend, on_stage, should_stop, start);
    warnings.insert(warnings.end(), result.warnings.begin(), result.warnings.end());
    return result;
  }

 private:
  training::ObjectSamples read_positives() {
    training::PositiveOptions reading;
    reading.samples = options.samples;
    reading.annotations.labels = labels;
    training::Positives found = training::read_positives(positives.paths, reading);
    warnings = found.report.sentences;
    return found;
  }

  std::shared_ptr<training::NegativePictures> read_negatives() const {
    training::NegativeSources sources = training::sources_of(negatives.paths);
    sources.recursive = true;
    return std::make_shared<training::Negatives>(std::move(sources));
  }
};

nb::bytes xml_of(const Cascade& cascade) {
  const std::string xml = cascade_to_xml(cascade);
  return nb::bytes(xml.data(), xml.size());
}

nb::tuple to_tuple(const TrainedStage& stage) {
  return nb::make_tuple(stage.number, stage.trees, stage.positives, stage.negatives, stage.hit_rate,
                        stage.false_alarms, stage.held_out_hit_rate, stage.held_out_false_alarms,
                        stage.acceptance, stage.seconds, xml_of(*stage.cascade));
}

// Returns the stages, why training ended, the cascade, and warnings.
nb::tuple train(const nb::list& positives, const nb::list& negatives,
                const std::vector<std::string>& labels, const nb::dict& options,
                const nb::object& start, const nb::object& on_stage) {
  TrainCall call{Images(positives), Images(negatives), labels, training_options_of(options),
                 start.is_none() ? nullptr : nb::cast<PythonCascade>(start).cascade};
  const auto told = [&](const TrainedStage& stage) {
    const nb::gil_scoped_acquire for_the_call;
    return on_stage.is_none() || !on_stage(to_tuple(stage)).is(nb::handle(Py_False));
  };
  Signals signals;
  Training result;
  try {
    const nb::gil_scoped_release others_may_run;
    result = call.run(told, [&] { return signals.raised(); });
  } catch (const Stopped&) {
    signals.rethrow();
    throw;
  }
  nb::list stages;
  for (const TrainedStage& stage : result.stages) stages.append(to_tuple(stage));
  return nb::make_tuple(stages, result.ending, xml_of(*result.cascade), call.warnings);
}

training::MatchOptions match_options(const std::string& word, double iou) {
  using training::Criterion;
  if (!(iou > 0 && iou <= 1))
    throw ArgumentError(fmt::format("iou must be more than 0 and at most 1, not {}", iou));
  for (const Criterion rule :
       {Criterion::iou, Criterion::centre, Criterion::opencv, Criterion::uiuc})
    if (app::name_of(rule) == word) return {rule, iou};
  throw ArgumentError(
      fmt::format("match must be one of iou, centre, opencv, uiuc, not \"{}\"", word));
}

// Returns what `facesat evaluate -o FILE.json` writes, and warnings.
nb::tuple evaluate(const std::string& annotations, const std::vector<std::string>& cascades,
                   const std::string& root, const std::vector<std::string>& labels,
                   const std::string& match, double iou, const nb::dict& given) {
  app::EvaluateCommand command;
  command.annotations = annotations;
  command.cascades = cascades;
  command.root = root;
  command.labels = labels;
  command.match = match_options(match, iou);
  const PythonOptions options = options_of(given);
  command.detect = options.detect;
  command.backend = options.backend;
  command.search = options.search;
  command.search.max_seconds = 1e9;  // every picture counts, however long it takes
  std::vector<std::string> warnings;
  std::string json;
  Signals signals;
  try {
    const nb::gil_scoped_release others_may_run;
    const ShouldStop should_stop = [&] { return signals.raised(); };
    const auto say = [&](const std::string& sentence) {
      if (!sentence.empty()) warnings.push_back(sentence);
    };
    signals.run([&] {
      app::Measurement measurement(command, say, should_stop);
      const auto pictures = app::find_pictures(command, say);
      const auto at_once = 4 * static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
      if (app::measure_all(pictures, measurement, at_once, say, should_stop))
        json = app::json_of(measurement.finish(), command, pictures)
                   .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    });
  } catch (const Stopped&) {
    signals.rethrow();
    throw;
  }
  signals.rethrow();
  return nb::make_tuple(json, warnings);
}

}  // namespace

void add_training(nb::module_& module) {
  module.def("train", &train, nb::arg("positives"), nb::arg("negatives"), nb::arg("labels"),
             nb::arg("options"), nb::arg("start").none(), nb::arg("on_stage").none(),
             "Images are paths, or pairs of an array and boxes. Returns the stages, why training "
             "ended, the cascade, and warnings.");
  module.def("evaluate", &evaluate, "Returns what the program writes as JSON, and warnings.");
}

}  // namespace facesat::python

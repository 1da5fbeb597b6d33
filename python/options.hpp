// What detectors are made from, as Python passes it.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "app/detect/search.hpp"
#include "facesat.hpp"

namespace facesat::python {

struct PythonCascade {
  std::shared_ptr<const Cascade> cascade;
  CascadeInfo info;
};

// The options of a search, from a dictionary with the names of the fields (scale_factor); those
// that are missing have their defaults.
struct PythonOptions {
  DetectOptions detect;
  BackendOptions backend;
  app::SearchOptions search;
};
// Throws ArgumentError for a name or word that there is not, and raises for a wrong type.
PythonOptions options_of(const nanobind::dict& given);

// The same of a training.
struct TrainingChoice {
  SampleOptions samples;
  TrainOptions training;
  BackendOptions backend;
};
TrainingChoice training_options_of(const nanobind::dict& given);

// Adds detection_fields(), backend_fields(), sample_fields() and training_fields(): for each option
// its name, kind ("flag", "whole", "number", "size", "text" or "word"), words, default, type on the
// command line, and help.
void add_fields(nanobind::module_& module);

}  // namespace facesat::python

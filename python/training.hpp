// Training and evaluation of cascades from Python.
#pragma once

#include <nanobind/nanobind.h>

namespace facesat::python {

void add_training(nanobind::module_& module);

}  // namespace facesat::python

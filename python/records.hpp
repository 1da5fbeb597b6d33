// What facesat.ray is made of: the inputs that the program would find, and the records that it
// would write for them.
#pragma once

#include <nanobind/nanobind.h>

namespace facesat::python {

// Adds the classes Inputs and Searcher.
void add_records(nanobind::module_& module);

}  // namespace facesat::python

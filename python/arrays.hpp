// Arrays of other Python libraries as the views that facesat takes: anything with the buffer
// protocol (NumPy), with
// __cuda_array_interface__ (CuPy, PyTorch, Numba) or, on the host, with DLPack (PyTorch).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

#include "facesat.hpp"

namespace facesat::python {

// A borrowed array of any number of dimensions; the owner keeps it alive.
struct Array {
  std::byte* data = nullptr;
  std::vector<std::int64_t> shape, strides;  // strides in bytes
  char kind = 0;                             // 'u', 'i', 'f', or another one of NumPy's letters
  int bytes = 0;                             // per element
  bool is_readonly = false;
  bool on_device = false;
  void* stream = nullptr;  // in which the array was written
  std::shared_ptr<void> owner;

  std::size_t dimensions() const { return shape.size(); }
};

// The views of one Python object. Throws ArgumentError, with a sentence, for anything that is not
// an array. `stream`: what the caller gave as such, or None. Must be called with the GIL, and so
// must the destructor of the result.
Array array_of(nanobind::handle object, nanobind::handle stream);

// An image of 8 bits per channel. `packed` holds its pixels where they cannot be viewed in place.
struct PythonImage {
  Array array;
  std::vector<std::uint8_t> packed;
  ImageView view;
};

// Arrays without elements are the empty image. Throws ArgumentError.
PythonImage image_of(nanobind::handle object, nanobind::handle stream);

}  // namespace facesat::python

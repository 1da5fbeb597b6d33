#include "python/arrays.hpp"

#include <cstring>

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace facesat::python {
namespace {

// The letter and size of an element in the syntax of Python's struct module, such as "<f".
void set_type(Array& array, const std::string& format, int bytes) {
  const char letter = format.empty() ? 'B' : format.back();
  const bool is_plain =
      format.size() == 1 || (format.size() == 2 && std::strchr("@=<", format.front()));
  array.bytes = bytes;
  if (!is_plain)
    array.kind = 'V';
  else if (std::strchr("BHILQN", letter))
    array.kind = 'u';
  else if (std::strchr("bhilqn", letter))
    array.kind = 'i';
  else
    array.kind = std::strchr("efd", letter) ? 'f' : 'V';
}

void set_c_strides(Array& array) {
  array.strides.resize(array.shape.size());
  std::int64_t stride = array.bytes;
  for (std::size_t i = array.shape.size(); i-- > 0;) {
    array.strides[i] = stride;
    stride *= array.shape[i];
  }
}

Array of_buffer(nb::handle object) {
  auto* const buffer = new Py_buffer;
  if (PyObject_GetBuffer(object.ptr(), buffer, PyBUF_RECORDS_RO) != 0) {
    delete buffer;
    PyErr_Clear();
    throw ArgumentError("the array does not let its memory be read");
  }
  Array array;
  array.owner = std::shared_ptr<void>(buffer, [](void* p) {
    auto* const view = static_cast<Py_buffer*>(p);
    PyBuffer_Release(view);
    delete view;
  });
  array.data = static_cast<std::byte*>(buffer->buf);
  array.is_readonly = buffer->readonly != 0;
  array.shape.assign(buffer->shape, buffer->shape + buffer->ndim);
  array.strides.assign(buffer->strides, buffer->strides + buffer->ndim);
  set_type(array, buffer->format ? buffer->format : "B", static_cast<int>(buffer->itemsize));
  return array;
}

// A stream as CUDA's array interface and DLPack number it, or an object with that number.
void* stream_of(nb::handle stream) {
  nb::object number = nb::borrow(stream);
  for (const char* name : {"cuda_stream", "ptr"})
    if (nb::hasattr(number, name)) {
      number = number.attr(name);
      break;
    }
  std::uint64_t value = 0;
  if (!nb::try_cast(number, value))
    throw ArgumentError("stream must be None, a number, or an object with cuda_stream or ptr");
  return reinterpret_cast<void*>(value);
}

// PyTorch does not say in which stream a tensor was written; by its conventions that is the current
// one.
nb::object current_stream_of_torch(nb::handle object) {
  const nb::dict modules = nb::module_::import_("sys").attr("modules");
  if (!modules.contains("torch")) return nb::none();
  const nb::object torch = modules["torch"];
  if (!nb::isinstance(object, torch.attr("Tensor"))) return nb::none();
  return torch.attr("cuda").attr("current_stream")(object.attr("device"));
}

Array of_device(nb::handle object, nb::handle stream) {
  const nb::dict description = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  Array array;
  array.owner = std::shared_ptr<void>(new nb::object(nb::borrow(object)),
                                      [](void* p) { delete static_cast<nb::object*>(p); });
  array.on_device = true;
  const nb::tuple data = nb::cast<nb::tuple>(description["data"]);
  array.data = reinterpret_cast<std::byte*>(nb::cast<std::uintptr_t>(data[0]));
  array.is_readonly = nb::cast<bool>(data[1]);
  for (nb::handle side : nb::cast<nb::tuple>(description["shape"]))
    array.shape.push_back(nb::cast<std::int64_t>(side));
  const std::string type = nb::cast<std::string>(description["typestr"]);  // such as "<f4"
  array.kind = type.size() > 2 && type[0] != '>' ? type[1] : 'V';
  array.bytes = type.size() > 2 ? std::atoi(type.c_str() + 2) : 0;
  set_c_strides(array);
  if (description.contains("strides") && !description["strides"].is_none()) {
    const nb::tuple strides = nb::cast<nb::tuple>(description["strides"]);
    for (std::size_t i = 0; i < array.strides.size(); ++i)
      array.strides[i] = nb::cast<std::int64_t>(strides[i]);
  }
  nb::object written_in = nb::borrow(stream);
  if (written_in.is_none() && description.contains("stream")) written_in = description["stream"];
  if (written_in.is_none()) written_in = current_stream_of_torch(object);
  if (!written_in.is_none()) array.stream = stream_of(written_in);
  return array;
}

Array of_dlpack(nb::handle object) {
  nb::ndarray<nb::ro> found;
  if (!nb::try_cast(object, found))
    throw ArgumentError("the array's elements are of an unknown type");
  if (found.device_type() != nb::device::cpu::value)
    throw ArgumentError("an array on a device must have __cuda_array_interface__");
  Array array;
  array.data = static_cast<std::byte*>(const_cast<void*>(found.data()));
  array.bytes = (found.dtype().bits + 7) / 8;
  switch (static_cast<nb::dlpack::dtype_code>(found.dtype().code)) {
    case nb::dlpack::dtype_code::UInt:
      array.kind = 'u';
      break;
    case nb::dlpack::dtype_code::Int:
      array.kind = 'i';
      break;
    case nb::dlpack::dtype_code::Float:
      array.kind = 'f';
      break;
    default:
      array.kind = 'V';
  }
  for (std::size_t i = 0; i < found.ndim(); ++i) {
    array.shape.push_back(static_cast<std::int64_t>(found.shape(i)));
    array.strides.push_back(found.stride(i) * array.bytes);
  }
  array.owner = std::make_shared<nb::ndarray<nb::ro>>(std::move(found));
  return array;
}

std::string shape_text(const Array& array) {
  std::string text;
  for (const std::int64_t side : array.shape)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", side);
  return fmt::format("({})", text);
}

// Copies pixels that are not side by side, row by row.
void pack(PythonImage& image, int channels) {
  const Array& array = image.array;
  const std::int64_t height = array.shape[0], width = array.shape[1];
  const std::int64_t step = array.dimensions() == 3 ? array.strides[2] : 1;
  image.packed.resize(static_cast<std::size_t>(height * width * channels));
  std::uint8_t* to = image.packed.data();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const std::byte* const pixel = array.data + y * array.strides[0] + x * array.strides[1];
      for (int c = 0; c < channels; ++c) *to++ = static_cast<std::uint8_t>(pixel[c * step]);
    }
  image.view.pixels = image.packed.data();
  image.view.pitch = width * channels;
}

}  // namespace

Array array_of(nb::handle object, nb::handle stream) {
  // First, because CuPy's arrays have a buffer protocol that refuses to be used.
  if (nb::hasattr(object, "__cuda_array_interface__")) return of_device(object, stream);
  if (PyObject_CheckBuffer(object.ptr()) != 0) return of_buffer(object);
  if (nb::hasattr(object, "__dlpack__")) return of_dlpack(object);
  const std::string type = nb::type_name(object.type()).c_str();
  throw ArgumentError(fmt::format("expected an array, not an object of type {}{}", type,
                                  type.ends_with("UMat") ? ": pass its get()" : ""));
}

PythonImage image_of(nb::handle object, nb::handle stream) {
  PythonImage image;
  if (object.is_none())
    throw ArgumentError(
        "expected an image, not None (which cv2.imread returns for a file that it cannot read)");
  image.array = array_of(object, stream);
  const Array& array = image.array;
  if (array.kind != 'u' || array.bytes != 1)
    throw ArgumentError("an image must have elements of type uint8");
  if (array.dimensions() != 2 && array.dimensions() != 3)
    throw ArgumentError(
        fmt::format("an image has two or three dimensions, not the shape {}", shape_text(array)));
  const std::int64_t height = array.shape[0], width = array.shape[1];
  if (height == 0 || width == 0) return image;
  const std::int64_t channels = array.dimensions() == 3 ? array.shape[2] : 1;
  if (channels != 1 && channels != 3 && channels != 4)
    throw ArgumentError(fmt::format(
        "an image has 1, 3 (BGR) or 4 (BGRA) channels, not the shape {}", shape_text(array)));
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (height > most || width > most)
    throw ArgumentError(fmt::format("an image of the shape {} is too large", shape_text(array)));
  image.view = {.pixels = array.data,
                .size = {static_cast<int>(width), static_cast<int>(height)},
                .pitch = array.strides[0],
                .format = channels == 1   ? PixelFormat::gray
                          : channels == 3 ? PixelFormat::bgr
                                          : PixelFormat::bgra,
                .on_device = array.on_device,
                .stream = array.stream};
  const bool is_packed =
      (width == 1 || array.strides[1] == channels) && (channels == 1 || array.strides[2] == 1);
  const bool has_rows = height == 1 || std::abs(array.strides[0]) >= width * channels;
  if (is_packed && has_rows) return image;
  if (array.on_device)
    throw ArgumentError(
        "the pixels of an image on a device must lie side by side: make it contiguous");
  pack(image, static_cast<int>(channels));
  return image;
}

}  // namespace facesat::python

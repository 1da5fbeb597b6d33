// The extension module facesat._facesat: the library, with Python's arrays. What users see is in
// the package, python/facesat.
#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <tbb/parallel_for.h>

#include "app/program.hpp"
#include "core/cascade.hpp"
#include "core/grouping.hpp"
#include "facesat.hpp"
#include "media/codec.hpp"
#include "python/arrays.hpp"
#include "python/options.hpp"
#include "python/records.hpp"
#include "python/signals.hpp"
#include "python/training.hpp"
#include "support/errors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace facesat::python {
namespace {

// An array of NumPy's that owns its elements.
template <class T>
nb::object to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* const owned = new std::vector<T>(std::move(values));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape, owner));
}

nb::tuple to_arrays(const std::vector<Face>& faces) {
  const std::size_t count = faces.size();
  std::vector<std::int32_t> boxes, neighbors;
  std::vector<double> scores;
  for (const Face& face : faces) {
    boxes.insert(boxes.end(), {face.box.x, face.box.y, face.box.width, face.box.height});
    neighbors.push_back(face.neighbors);
    scores.push_back(face.score);
  }
  return nb::make_tuple(to_numpy(std::move(boxes), {count, 4}),
                        to_numpy(std::move(neighbors), {count}),
                        to_numpy(std::move(scores), {count}));
}

// One of a batch: an array, the path of a file, or the bytes of one.
struct BatchInput {
  std::optional<PythonImage> image;
  std::string path, bytes;

  // Called without the GIL.
  Detection detect(const Detector& detector, const ShouldStop& should_stop) const {
    if (image) return detector.detect(image->view, should_stop);
    const std::span contents(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    const Picture picture =
        path.empty() ? read_picture(InputFile(contents)) : read_picture(InputFile(path));
    return detector.detect(image_view(picture.pixels), should_stop);
  }
};

BatchInput batch_input(nb::handle object) {
  if (nb::isinstance<nb::str>(object)) return {{}, nb::cast<std::string>(object), {}};
  if (!nb::isinstance<nb::bytes>(object)) return {image_of(object, nb::none()), {}, {}};
  const auto bytes = nb::cast<nb::bytes>(object);
  return {{}, {}, std::string(bytes.c_str(), bytes.size())};
}

class PythonDetector {
 public:
  PythonDetector(std::shared_ptr<const Cascade> cascade, const DetectOptions& options,
                 const BackendOptions& backend)
      : detector_({std::move(cascade)}, options, backend) {}

  nb::tuple detect(nb::handle object, nb::handle stream) {
    const PythonImage image = image_of(object, stream);
    Signals signals;
    Detection found;
    try {
      const nb::gil_scoped_release others_may_run;
      found = detector_.detect(image.view, [&] { return signals.raised(); });
      const std::scoped_lock lock(mutex_);
      times_ = found.times;
    } catch (const Stopped&) {
      signals.rethrow();
    }
    return to_arrays(found.faces);
  }

  // For each input a tuple of arrays, or a sentence on why there is none.
  nb::list detect_all(const nb::list& objects) {
    std::vector<BatchInput> inputs(objects.size());
    std::vector<Detection> found(objects.size());
    const auto attempt = [&](std::size_t i, auto work) {
      try {
        if (!found[i].error) work();
      } catch (...) {
        found[i].error = std::current_exception();
      }
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
      attempt(i, [&] { inputs[i] = batch_input(objects[i]); });
    Signals signals;
    {
      const nb::gil_scoped_release others_may_run;
      const ShouldStop should_stop = [&] { return signals.raised(); };
      const auto detect_one = [&](std::size_t i) {
        if (!should_stop())
          attempt(i, [&] { found[i] = inputs[i].detect(detector_, should_stop); });
      };
      signals.run([&] {
        tbb::parallel_for(std::size_t{0}, inputs.size(), detect_one, tbb::simple_partitioner());
      });
    }
    signals.rethrow();
    nb::list results;
    for (const Detection& one : found)
      if (one.error)
        results.append(reason_of(one.error));
      else
        results.append(to_arrays(one.faces));
    return results;
  }

  nb::dict times() {
    const std::scoped_lock lock(mutex_);
    nb::dict times;
    for (std::size_t step = 0; step < step_names.size(); ++step)
      times[step_names[step].data()] = times_.ms[step];
    return times;
  }

  const Detector& detector() const { return detector_; }

 private:
  Detector detector_;
  std::mutex mutex_;
  StepTimes times_;  // of the last picture
};

nb::bytes in_present_format(const nb::bytes& contents, const std::string& name) {
  const Cascade cascade = parse_cascade({contents.c_str(), contents.size()}, name);
  if (!cascade.was_old)
    throw CascadeError(fmt::format("{}: this cascade has OpenCV's present format already", name));
  const std::string xml = to_xml(cascade);
  return nb::bytes(xml.data(), xml.size());
}

nb::tuple group_rectangles(const std::vector<std::tuple<int, int, int, int>>& boxes, int threshold,
                           double eps) {
  std::vector<Window> windows;
  for (const auto& [x, y, width, height] : boxes) windows.push_back({.box = {x, y, width, height}});
  Signals signals;
  std::vector<Face> groups;
  try {
    const nb::gil_scoped_release others_may_run;
    groups = group_faces(
        windows, threshold, [&] { return signals.raised(); }, eps);
  } catch (const Stopped&) {
    signals.rethrow();
  }
  const nb::tuple arrays = to_arrays(groups);
  return nb::make_tuple(arrays[0], arrays[1]);
}

Element element_of(const Array& array) {
  switch (array.bytes) {
    case 1:
      if (array.kind == 'u') return Element::u8;
      break;
    case 2:
      if (array.kind == 'u') return Element::u16;
      if (array.kind == 'i') return Element::s16;
      break;
    case 4:
      if (array.kind == 'u') return Element::u32;
      if (array.kind == 'i') return Element::s32;
      if (array.kind == 'f') return Element::f32;
      break;
    case 8:
      if (array.kind == 'u') return Element::u64;
      if (array.kind == 'i') return Element::s64;
      if (array.kind == 'f') return Element::f64;
  }
  throw ArgumentError("integral images have elements of 8 to 64 bits");
}

// Of two dimensions, or three with the channels last.
ArrayView array_view(const Array& array) {
  const std::size_t dimensions = array.dimensions();
  if (dimensions != 2 && dimensions != 3)
    throw ArgumentError("integral images have two dimensions, and perhaps channels");
  for (const std::int64_t side : array.shape)
    if (side > 1 << 30) throw ArgumentError("the array is too large");
  std::int64_t step = array.bytes;  // between elements that must lie side by side
  for (std::size_t i = dimensions; --i > 0;) {
    if (array.shape[i] > 1 && array.strides[i] != step)
      throw ArgumentError("the elements of a row must lie side by side: make the array contiguous");
    step *= array.shape[i];
  }
  return {.data = array.data,
          .size = {static_cast<int>(array.shape[1]), static_cast<int>(array.shape[0])},
          .pitch = array.strides[0],
          .element = element_of(array),
          .on_device = array.on_device};
}

int channels_of(const Array& array) {
  return array.dimensions() == 3 ? static_cast<int>(array.shape[2]) : 1;
}

void sum(nb::handle input, nb::handle output, bool squares, bool exclusive,
         const std::string& algorithm, nb::handle stream) {
  const Array from = array_of(input, stream), to = array_of(output, stream);
  if (to.is_readonly) throw ArgumentError("the table is read-only");
  const ArrayView from_view = array_view(from), to_view = array_view(to);
  if (channels_of(from) != channels_of(to))
    throw ArgumentError("the table must have as many channels as the array");
  const SatOptions options{.squares = squares,
                           .exclusive = exclusive,
                           .channels = channels_of(from),
                           .algorithm = algorithm,
                           .stream = from.stream};
  const nb::gil_scoped_release others_may_run;
  sat(from_view, to_view, options);
}

// Of arrays of one row.
void scan_row(nb::handle input, nb::handle output, const std::string& op, bool exclusive,
              const std::string& algorithm, nb::handle stream) {
  const Array from = array_of(input, stream), to = array_of(output, stream);
  if (to.is_readonly) throw ArgumentError("the result is read-only");
  const ArrayView from_view = array_view(from), to_view = array_view(to);
  constexpr std::string_view names[] = {"sum", "product", "minimum", "maximum", "compose"};
  const auto name = std::ranges::find(names, op);
  if (name == std::end(names)) throw ArgumentError("there is no such operator: " + op);
  const ScanOptions options{.op = static_cast<ScanOperator>(name - std::begin(names)),
                            .exclusive = exclusive,
                            .algorithm = algorithm,
                            .stream = from.stream};
  const nb::gil_scoped_release others_may_run;
  scan(from_view, to_view, options);
}

template <class T>
nb::object add_error(nb::module_& module, nb::handle base, const char* name, const char* text) {
  nb::object type = nb::exception<T>(module, name, base);
  type.attr("__doc__") = text;
  return type;
}

void add_errors(nb::module_& m) {
  const nb::object error =
      add_error<Error>(m, PyExc_Exception, "Error",
                       "The base class of all errors of facesat; each message is a sentence.");
  add_error<CascadeError>(
      m, error, "CascadeError",
      "A cascade that does not exist, or a file that is not one or is damaged.");
  add_error<ArgumentError>(m, error, "ArgumentError",
                           "An argument of a wrong type, or outside its range.");
  add_error<BackendError>(
      m, error, "BackendError",
      "A backend, device or algorithm that this machine or this build does not have.");
  add_error<DeviceError>(m, error, "DeviceError", "A device that has failed.");
  add_error<MemoryError>(
      m, error, "OutOfMemory",
      "Work that does not fit into memory; the message says how many bytes it would need.");
}

void add_cascades(nb::module_& m) {
  nb::class_<PythonCascade>(m, "Cascade")
      .def_prop_ro("name", [](const PythonCascade& c) { return c.info.name; })
      .def_prop_ro("is_lbp", [](const PythonCascade& c) { return c.info.is_lbp; })
      .def_prop_ro("stages", [](const PythonCascade& c) { return c.info.stages; })
      .def_prop_ro("window",
                   [](const PythonCascade& c) {
                     return std::tuple(c.info.window.width, c.info.window.height);
                   })
      .def_prop_ro("warnings", [](const PythonCascade& c) { return c.info.warnings; });
  m.def(
      "cascade_from_bytes",
      [](const nb::bytes& contents, const std::string& name) {
        const auto cascade = cascade_from_bytes({contents.c_str(), contents.size()}, name);
        return PythonCascade{cascade, info_of(*cascade)};
      },
      "Of the contents of a file; messages begin with the name. Raises CascadeError.");
  m.def("in_present_format", &in_present_format,
        "An old cascade file as one of OpenCV's present format. Raises CascadeError for other "
        "files.");
  m.def("group_rectangles", &group_rectangles,
        "The boxes of groups of similar ones, (N, 4), and the numbers of those in each, (N,).");
}

void add_detector(nb::module_& m) {
  nb::class_<PythonDetector>(m, "Detector")
      .def("__init__",
           [](PythonDetector* self, const PythonCascade& cascade, const nb::dict& given) {
             const PythonOptions options = options_of(given);
             new (self) PythonDetector(cascade.cascade, options.detect, options.backend);
           })
      .def("detect", &PythonDetector::detect, "image"_a.none(), "stream"_a.none())
      .def("detect_all", &PythonDetector::detect_all)
      .def_prop_ro("times", &PythonDetector::times)
      .def_prop_ro("device_name",
                   [](const PythonDetector& self) { return self.detector().device_name(); })
      .def_prop_ro("remark", [](const PythonDetector& self) { return self.detector().remark(); });
}

void add_scan(nb::module_& m) {
  m.def("scan", &scan_row, "input"_a, "output"_a, "op"_a, "exclusive"_a, "algorithm"_a,
        "stream"_a.none());
  m.def("scan_algorithms", &scan_algorithms,
        "The algorithms for prefix scans on a device, the fastest first; none in builds without "
        "CUDA.");
}

void add_sat(nb::module_& m) {
  m.def("sat", &sum, "input"_a, "output"_a, "squares"_a, "exclusive"_a, "algorithm"_a,
        "stream"_a.none());
  m.def(
      "sat_algorithms",
      [] {
        std::vector<std::string> ids;
        for (const SatAlgorithmInfo& one : sat_algorithms()) ids.push_back(one.id);
        return ids;
      },
      "The algorithms for integral images on a device, the fastest first; none in builds without "
      "CUDA.");
}

void add_program(nb::module_& m) {
  m.def(
      "devices",
      [] {
        std::vector<std::string> names;
        for (const DeviceInfo& one : devices()) names.push_back(one.name);
        return names;
      },
      "The names of the CUDA devices that can be used; none in builds without CUDA.");
  m.def("version", &version);
  m.def("run_program", [](std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const nb::gil_scoped_release others_may_run;
    return app::run_program(static_cast<int>(arguments.size()), argv.data());
  });
}

}  // namespace
}  // namespace facesat::python

NB_MODULE(_facesat, m) {
  using namespace facesat::python;
  add_errors(m);
  add_cascades(m);
  add_detector(m);
  add_fields(m);
  add_records(m);
  add_sat(m);
  add_scan(m);
  add_program(m);
  add_training(m);
}

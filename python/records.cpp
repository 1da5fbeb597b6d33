#include "python/records.hpp"

#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "media/codec.hpp"
#include "python/options.hpp"
#include "python/signals.hpp"
#include "results/archive.hpp"
#include "results/inputs.hpp"
#include "results/journal.hpp"
#include "support/errors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace facesat::python {
namespace {

nb::bytes to_bytes(const std::string& text) {
  return nb::bytes(text.data(), text.size());
}

std::string from_bytes(nb::handle object) {
  const auto bytes = nb::cast<nb::bytes>(object);
  return {bytes.c_str(), bytes.size()};
}

// One input on its way to its record.
struct Work {
  // The value of each kind: of "path" that, of "member" the first byte, the size and the path of
  // its archive, of "bytes" the contents of a file, of "failure" its message.
  std::string name, kind, value;
  std::string text;  // of the record
};

// Names and paths are bytes, because those of files need not be valid in any encoding.
class PythonInputs {
 public:
  PythonInputs(const nb::list& inputs, bool recursive) : inputs_(arguments(inputs, recursive)) {}

  // Up to `count` further inputs, fewer only at the end: (name, kind, value, version), with the
  // values of Work.
  nb::list next(std::size_t count) {
    std::vector<std::pair<Work, std::string>> found;
    {
      const nb::gil_scoped_release others_may_run;
      while (found.size() < count) {
        const std::optional<Input> input = inputs_.next();
        if (!input) break;
        const InputVersion version = input->version ? *input->version : version_of(input->path);
        found.emplace_back(work_of(*input), version.change == 0
                                                ? std::string()
                                                : fmt::format("{:016x}", version.change));
      }
    }
    nb::list result;
    for (const auto& [work, version] : found)
      result.append(nb::make_tuple(to_bytes(work.name), work.kind, to_bytes(work.value), version));
    return result;
  }

  // Passes over up to `most` further inputs; returns how many there were.
  std::size_t skip(std::size_t most) {
    const nb::gil_scoped_release others_may_run;
    std::size_t number = 0;
    while (number < most && inputs_.next()) ++number;
    return number;
  }

 private:
  static InputArguments arguments(const nb::list& inputs, bool recursive) {
    InputArguments arguments;
    for (const nb::handle input : inputs) arguments.inputs.push_back(from_bytes(input));
    arguments.recursive = recursive;
    arguments.archives = true;
    return arguments;
  }

  static Work work_of(const Input& input) {
    if (input.kind == Input::Kind::failure) return {input.name, "failure", input.failure, {}};
    if (!input.member) return {input.name, "path", input.path.string(), {}};
    if (input.member->is_sparse)
      return {input.name, "failure", "sparse files in archives are not read", {}};
    return {input.name,
            "member",
            fmt::format("{} {} {}", input.member->begin, input.member->size,
                        std::filesystem::absolute(input.path).string()),
            {}};
  }

  Inputs inputs_;
};

class Searcher {
 public:
  Searcher(const std::vector<PythonCascade>& cascades, std::vector<std::string> names,
           const PythonOptions& options, int threads, std::size_t max_pixels, double max_seconds)
      : detector_(models(cascades), options.detect, options.backend,
                  [this](const std::string& sentence) { add_remark(sentence); }),
        layout_{.cascades = std::move(names)},
        options_(options.search),
        arena_(threads),
        threads_(static_cast<std::size_t>(threads)) {
    options_.max_pixels = max_pixels;
    options_.max_seconds = max_seconds;
    if (threads < 1) throw ArgumentError("threads must be at least 1");
    prepare_codecs({max_pixels});
    if (!detector_.remark().empty()) add_remark(detector_.remark());
  }

  // The records of (name, kind, value), which the iterator may find while others are searched; it
  // is asked by one thread at a time. Throws what the iterator raises, and DeviceError.
  nb::list records(nb::handle inputs) {
    const nb::iterator iterator = nb::iter(inputs);
    Signals signals;
    std::vector<std::string> texts;
    {
      const nb::gil_scoped_release others_may_run;
      const ShouldStop should_stop = [&] { return signals.raised(); };
      const auto read = [&](tbb::flow_control& flow) {
        std::optional<Work> next;
        if (!should_stop()) {
          const nb::gil_scoped_acquire for_the_iterator;
          next = next_of(iterator);
        }
        if (next) return std::move(*next);
        flow.stop();
        return Work();
      };
      const auto search = [&](Work work) {
        if (!should_stop()) work.text = record_of(work, should_stop);
        return work;
      };
      const auto keep = [&](Work work) { texts.push_back(std::move(work.text)); };
      signals.run([&] {
        arena_.execute([&] {
          tbb::parallel_pipeline(
              2 * threads_,
              tbb::make_filter<void, Work>(tbb::filter_mode::serial_in_order, read) &
                  tbb::make_filter<Work, Work>(tbb::filter_mode::parallel, search) &
                  tbb::make_filter<Work, void>(tbb::filter_mode::serial_in_order, keep));
        });
      });
    }
    signals.rethrow();
    nb::list result;
    for (const std::string& text : texts) result.append(to_bytes(text));
    return result;
  }

  // Sentences on where faces are detected, and on devices that failed, since the last call.
  std::vector<std::string> remarks() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(remarks_, {});
  }

  const Detector& detector() const { return detector_; }

 private:
  static std::vector<std::shared_ptr<const Cascade>> models(
      const std::vector<PythonCascade>& cascades) {
    std::vector<std::shared_ptr<const Cascade>> all;
    for (const PythonCascade& one : cascades) all.push_back(one.cascade);
    return all;
  }

  static std::optional<Work> next_of(nb::handle iterator) {
    const nb::object input = nb::steal(PyIter_Next(iterator.ptr()));
    if (!input.is_valid() && PyErr_Occurred() != nullptr) throw nb::python_error();
    if (!input.is_valid()) return std::nullopt;
    const auto [name, kind, value] =
        nb::cast<std::tuple<nb::object, std::string, nb::object>>(input);
    return Work{from_bytes(name), kind, from_bytes(value), {}};
  }

  void add_remark(const std::string& sentence) {
    const std::scoped_lock lock(mutex_);
    remarks_.push_back(sentence);
  }

  static std::vector<unsigned char> bytes_of_member(const Work& work) {
    std::uint64_t begin = 0, size = 0;
    std::string path;
    std::getline(std::istringstream(work.value) >> begin >> size >> std::ws, path, '\0');
    return Archive::read(path, begin, size);
  }

  static InputFile file_of(const Work& work) {
    if (work.kind == "failure") throw InputError("read", work.value);
    if (work.kind == "path") return InputFile(work.value);
    if (work.kind == "member") return InputFile(bytes_of_member(work));
    return InputFile(
        std::span(reinterpret_cast<const unsigned char*>(work.value.data()), work.value.size()));
  }

  // Called without the GIL.
  std::string record_of(const Work& work, const ShouldStop& should_end) const {
    Record record;
    record.image = work.name;
    app::make_record(record, {[&work] { return file_of(work); }}, detector_, options_, should_end);
    return layout_.to_text(record);
  }

  std::mutex mutex_;  // of remarks_, which the detector may add to
  std::vector<std::string> remarks_;
  Detector detector_;
  Layout layout_;
  app::SearchOptions options_;
  tbb::task_arena arena_;
  std::size_t threads_;
};

}  // namespace

void add_records(nb::module_& module) {
  nb::class_<PythonInputs>(
      module, "Inputs",
      "What the program finds for INPUT..., as (name, kind, value, version).\n\n"
      "Kinds are \"path\", \"member\" (of an archive) and \"failure\".")
      .def(nb::init<const nb::list&, bool>())
      .def("next", &PythonInputs::next)
      .def("skip", &PythonInputs::skip);
  nb::class_<Searcher>(
      module, "Searcher",
      "Makes the program's records, as JSON lines.\n\nThey are of what Inputs gives (without "
      "version), and of (name, \"bytes\", contents).")
      .def("__init__",
           [](Searcher* self, const std::vector<PythonCascade>& cascades,
              std::vector<std::string> names, const nb::dict& options, int threads,
              std::size_t max_pixels, double max_seconds) {
             new (self) Searcher(cascades, std::move(names), options_of(options), threads,
                                 max_pixels, max_seconds);
           })
      .def("records", &Searcher::records)
      .def("remarks", &Searcher::remarks)
      .def_prop_ro("device_name",
                   [](const Searcher& self) { return self.detector().device_name(); });
  module.def("picture_extensions", [] {
    std::vector<std::string> extensions;
    for (const std::string_view one : picture_extensions()) extensions.emplace_back(one);
    return extensions;
  });
}

}  // namespace facesat::python

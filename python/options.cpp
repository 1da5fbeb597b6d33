#include "python/options.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace facesat::python {
namespace {

using app::Choice;
using app::Field;

template <class Options>
void set_field(const Field<Options>& field, Options& options, nb::handle given) {
  const auto set = [&]<class Value>(const Value& value) {
    if constexpr (std::is_same_v<Value, Choice<Options>>) {
      const auto word = nb::cast<std::string>(given);
      const int index = value.index_of(word);
      if (index < 0)
        throw ArgumentError(fmt::format("{} must be one of {}, not \"{}\"", field.key(),
                                        fmt::join(value.words, ", "), word));
      value.set(options, index);
    } else if constexpr (std::is_same_v<Value, Size Options::*>) {
      const auto [width, height] = nb::cast<std::tuple<int, int>>(given);
      options.*value = {width, height};
    } else {
      options.*value = nb::cast<std::decay_t<decltype(options.*value)>>(given);
    }
  };
  std::visit(set, field.value);
}

// Sets the field of that name, if this is its table.
template <class Options>
bool set_if_there(const std::vector<Field<Options>>& fields, Options& options,
                  const std::string& name, nb::handle given) {
  const auto field = std::ranges::find(fields, name, &Field<Options>::key);
  if (field == fields.end()) return false;
  set_field(*field, options, given);
  return true;
}

// Calls set(name, value) for all that is given; it returns whether there is such an option.
template <class Set>
void set_each(const nb::dict& given, const Set& set) {
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (!set(name, value)) throw ArgumentError(fmt::format("there is no option named {}", name));
  }
}

template <class Options>
nb::list described(const std::vector<Field<Options>>& fields) {
  nb::list list;
  for (const Field<Options>& field : fields) {
    // In the order of the variant's alternatives.
    constexpr const char* kinds[] = {"flag", "whole", "number", "size", "text", "word"};
    std::vector<std::string_view> words;
    if (const auto* choice = std::get_if<Choice<Options>>(&field.value)) words = choice->words;
    nb::object usual;
    app::visit_value(field, Options(), [&](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Size>)
        usual = nb::make_tuple(value.width, value.height);
      else
        usual = nb::cast(value);
    });
    list.append(nb::make_tuple(field.key(), kinds[field.value.index()], words, usual, field.type,
                               field.help));
  }
  return list;
}

}  // namespace

PythonOptions options_of(const nb::dict& given) {
  PythonOptions options;
  set_each(given, [&](const std::string& name, nb::handle value) {
    return set_if_there(app::detection_fields(), options.detect, name, value) ||
           set_if_there(app::backend_fields(), options.backend, name, value) ||
           set_if_there(app::search_fields(), options.search, name, value);
  });
  return options;
}

TrainingChoice training_options_of(const nb::dict& given) {
  TrainingChoice options;
  set_each(given, [&](const std::string& name, nb::handle value) {
    return set_if_there(app::sample_fields(), options.samples, name, value) ||
           set_if_there(app::training_fields(), options.training, name, value) ||
           set_if_there(app::backend_fields(), options.backend, name, value);
  });
  return options;
}

void add_fields(nb::module_& module) {
  module.def("detection_fields", [] { return described(app::detection_fields()); });
  module.def("backend_fields", [] { return described(app::backend_fields()); });
  module.def("sample_fields", [] { return described(app::sample_fields()); });
  module.def("training_fields", [] { return described(app::training_fields()); });
}

}  // namespace facesat::python

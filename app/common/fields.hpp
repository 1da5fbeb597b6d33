// Options as tables. Each option is declared once, as a field of the struct that holds it; the
// command line, saved settings, the journal, exports and the Python module go through the tables.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/crop.hpp"
#include "facesat.hpp"
#include "media/frame_source.hpp"

namespace facesat::app {

// One of several words, which are in the order of the enumeration's values.
template <class Options>
struct Choice {
  std::vector<std::string_view> words;
  int (*get)(const Options&);
  void (*set)(Options&, int);

  int index_of(std::string_view word) const {  // -1: it is none of them
    const auto found = std::find(words.begin(), words.end(), word);
    return found == words.end() ? -1 : static_cast<int>(found - words.begin());
  }
};

// choice<&DetectOptions::scan>({"opencv", "dense"})
template <auto member, class Options, class Value>
Choice<Options> choice_of(Value Options::*, std::vector<std::string_view> words) {
  return {std::move(words), [](const Options& o) { return static_cast<int>(o.*member); },
          [](Options& o, int value) { o.*member = static_cast<Value>(value); }};
}
template <auto member>
auto choice(std::vector<std::string_view> words) {
  return choice_of<member>(member, std::move(words));
}

template <class Options>
struct Field {
  std::string_view name;  // "scale-factor": --scale-factor
  std::variant<bool Options::*, int Options::*, double Options::*, Size Options::*,
               std::string Options::*, Choice<Options>>
      value;
  std::string_view type;  // of the value on the command line, such as N; choices list their words
  std::string_view help;

  // Its name in files and in Python: "scale_factor".
  std::string key() const {
    std::string key(name);
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
  }
};

// Calls visit(value) with the value of a field: a bool, int, double, Size or std::string, or the
// word that is chosen (std::string_view).
template <class Options, class Visit>
void visit_value(const Field<Options>& field, const Options& options, const Visit& visit) {
  return std::visit(
      [&](const auto& value) {
        if constexpr (requires { value.words; })
          visit(value.words[static_cast<std::size_t>(value.get(options))]);
        else
          visit(options.*value);
      },
      field.value);
}

// The value as the command line takes it, but that flags are "on" or "off", and no limit is "any".
template <class Options>
std::string text_of(const Field<Options>& field, const Options& options) {
  std::string text;
  visit_value(field, options, [&text](const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>)
      text = value ? "on" : "off";
    else if constexpr (std::is_same_v<Value, Size>)
      text = fmt::format("{}x{}", value.width, value.height);
    else if constexpr (std::is_same_v<Value, double>)
      text = value == std::numeric_limits<double>::lowest() ? "any" : fmt::format("{}", value);
    else
      text = fmt::format("{}", value);
  });
  return text;
}

template <class Options>
bool is_default(const Field<Options>& field, const Options& options) {
  return text_of(field, options) == text_of(field, Options());
}

// The arguments of `facesat` that set what differs from the defaults.
template <class Options>
void append_arguments(std::vector<std::string>& arguments, const Options& options,
                      const std::vector<Field<Options>>& fields) {
  for (const Field<Options>& field : fields) {
    if (is_default(field, options)) continue;
    const bool is_flag = std::holds_alternative<bool Options::*>(field.value);
    arguments.push_back(fmt::format("--{}{}{}", field.name, is_flag ? "" : "=",
                                    is_flag ? "" : text_of(field, options)));
  }
}

// The tables. Their order is that of --help.
const std::vector<Field<DetectOptions>>& detection_fields();
const std::vector<Field<BackendOptions>>& backend_fields();
const std::vector<Field<FrameChoice>>& frame_fields();
const std::vector<Field<CropOptions>>& crop_fields();
const std::vector<Field<SampleOptions>>& sample_fields();
const std::vector<Field<TrainOptions>>& training_fields();
const Field<DetectOptions>& detection_field(std::string_view name);

}  // namespace facesat::app

// What the text of an option or a setting chooses from the lists of algorithms.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "facesat/types.hpp"
#include "kernels/filter/algorithm.hpp"
#include "kernels/sat/algorithm.hpp"
#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {
namespace {

// The number, if it is one that the parameter takes.
std::optional<double> value_in(std::string_view text, const SatParameter& parameter) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || !(value >= parameter.least && value <= parameter.greatest) ||
      (parameter.is_whole && value != std::floor(value)) ||
      (!parameter.choices.empty() &&
       std::ranges::find(parameter.choices, value) == parameter.choices.end()))
    return std::nullopt;
  return value;
}

// "a, b, c"; `none` if there are none.
template <class Range, class Text>
std::string listed(const Range& range, Text text, std::string_view none) {
  std::string list;
  for (const auto& element : range)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", std::invoke(text, element));
  return list.empty() ? std::string(none) : list;
}

// Sets the parameter in "name=value".
void set_parameter(std::string_view text, ScanChoice& choice) {
  const auto fail = [&](const std::string& why) {
    throw ArgumentError(fmt::format("the scan algorithm {}: {}", choice.algorithm->id, why));
  };
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  const std::span<const ScanParameter> parameters = choice.algorithm->parameters;
  const auto found = std::ranges::find(parameters, name, &ScanParameter::name);
  if (found == parameters.end())
    fail(fmt::format("no parameter \"{}\"; known are {}", name,
                     listed(parameters, &ScanParameter::name, "none")));
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + std::min(equals + 1, text.size()), end, value);
  if (error != std::errc() || stop != end ||
      std::ranges::find(found->choices, value) == found->choices.end())
    fail(fmt::format("{} must be one of {}", name, fmt::join(found->choices, ", ")));
  choice.settings[static_cast<std::size_t>(found - parameters.begin())] = value;
}

}  // namespace

// ---- SAT: "id" or "id:value"

SatChoice choose_sat(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (sat_algorithms().empty()) return {.why_not = "this build has no CUDA backend"};
  const SatAlgorithm* const found = find_sat(text.substr(0, colon));
  if (!found) return {.why_not = "there is no such algorithm; 'facesat info' lists them"};
  SatAlgorithm chosen = *found;
  if (colon == text.npos) return {chosen};
  if (!found->parameter) return {.why_not = fmt::format("{} has no parameter", found->id)};
  const SatParameter& parameter = *found->parameter;
  const std::optional<double> value = value_in(text.substr(colon + 1), parameter);
  if (!value && !parameter.choices.empty())
    return {.why_not = fmt::format("{}, {}, must be one of {}", parameter.name, parameter.meaning,
                                   fmt::join(parameter.choices, ", "))};
  if (!value)
    return {.why_not =
                fmt::format("{}, {}, must be a {} from {} to {}", parameter.name, parameter.meaning,
                            parameter.is_whole ? "whole number" : "number", parameter.least,
                            parameter.greatest)};
  chosen.value = *value;
  if (parameter.reads) chosen.reads = parameter.reads(*value);
  return {chosen};
}

// ---- scans: "id" or "id:name=value,..."

std::string why_not(const ScanAlgorithm& algorithm, const ScanTask& task) {
  if (task.order > algorithm.most_order)
    return algorithm.most_order == 1 ? "for scans of order 1 only"
                                     : fmt::format("orders from 1 to {}", algorithm.most_order);
  if (task.tuple > algorithm.most_tuple)
    return algorithm.most_tuple == 1 ? "for single elements only"
                                     : fmt::format("tuples of 1 to {}", algorithm.most_tuple);
  return "";
}

ScanSettings standard_settings(const ScanAlgorithm& algorithm) {
  ScanSettings settings{};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    settings[i] = algorithm.parameters[i].standard;
  return settings;
}

std::vector<ScanSettings> all_settings(const ScanAlgorithm& algorithm) {
  std::vector<ScanSettings> all{{}};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    std::vector<ScanSettings> longer;
    for (ScanSettings settings : all)
      for (const int choice : algorithm.parameters[i].choices) {
        settings[i] = choice;
        longer.push_back(settings);
      }
    all = std::move(longer);
  }
  return all;
}

std::string settings_text(const ScanAlgorithm& algorithm, const ScanSettings& settings) {
  std::string text;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : ",", algorithm.parameters[i].name, settings[i]);
  return text;
}

ScanChoice parse_scan(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view id = text.substr(0, colon);
  ScanChoice choice{find_scan(id)};
  if (!choice.algorithm)
    throw ArgumentError(
        fmt::format("there is no scan algorithm \"{}\"; known are {}", id,
                    listed(scan_algorithms(), &ScanAlgorithm::id, "none: this build has no CUDA")));
  choice.settings = standard_settings(*choice.algorithm);
  for (std::size_t begin = colon + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    set_parameter(text.substr(begin, end - begin), choice);
    begin = end + 1;
  }
  return choice;
}

// ---- filters: which masks an algorithm takes

std::string why_not(const FilterAlgorithm& algorithm, const FilterTask& task) {
  const DeviceMask& mask = task.mask;
  if (mask.kind < algorithm.takes)
    return algorithm.takes == MaskKind::ones ? "for boxes only" : "for separable masks only";
  if (algorithm.is_1d && mask.radius.y != 0) return "for masks of one row only";
  if (!algorithm.is_1d && task.size.width > 32768) return "rows of up to 32768 elements";
  if (std::min(mask.radius.x, mask.radius.y) < 0 ||
      std::max(mask.radius.x, mask.radius.y) > greatest_filter_radius)
    return fmt::format("radii from 0 to {}", greatest_filter_radius);
  return algorithm.why_not ? algorithm.why_not(task) : std::string();
}

}  // namespace facesat::gpu

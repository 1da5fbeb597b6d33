#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {
namespace {

// In the order of registry.def, whose lines expand to &algorithm.
constexpr std::array algorithms{
#define FACESAT_SAT(id) &id,
#include "kernels/sat/registry.def"
#undef FACESAT_SAT
};

// The number, if it is one that the parameter takes.
std::optional<double> value_in(std::string_view text, const SatParameter& parameter) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || !(value >= parameter.least && value <= parameter.greatest) ||
      (parameter.is_whole && value != std::floor(value)))
    return std::nullopt;
  return value;
}

}  // namespace

std::span<const SatAlgorithm* const> sat_algorithms() {
  return algorithms;
}

const SatAlgorithm* find_sat(std::string_view id) {
  const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                  [&](const SatAlgorithm* a) { return a->id == id; });
  return found == algorithms.end() ? nullptr : *found;
}

SatChoice choose_sat(std::string_view text) {
  const std::size_t colon = text.find(':');
  const SatAlgorithm* const found = find_sat(text.substr(0, colon));
  if (!found) return {.why_not = "there is no such algorithm; 'facesat info' lists them"};
  SatAlgorithm chosen = *found;
  if (colon == text.npos) return {chosen};
  if (!found->parameter) return {.why_not = fmt::format("{} has no parameter", found->id)};
  const SatParameter& parameter = *found->parameter;
  const std::optional<double> value = value_in(text.substr(colon + 1), parameter);
  if (!value)
    return {.why_not =
                fmt::format("{}, {}, must be a {} from {} to {}", parameter.name, parameter.meaning,
                            parameter.is_whole ? "whole number" : "number", parameter.least,
                            parameter.greatest)};
  chosen.value = *value;
  if (parameter.reads) chosen.reads = parameter.reads(*value);
  return {chosen};
}

}  // namespace facesat::gpu

#include <algorithm>
#include <charconv>

#include "facesat/types.hpp"
#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {
namespace {

std::string ids() {
  std::string list;
  for (const ScanAlgorithm* algorithm : scan_algorithms())
    (list += list.empty() ? "" : ", ") += algorithm->id;
  return list.empty() ? "none: this build has no CUDA" : list;
}

std::string names_of(std::span<const ScanParameter> parameters) {
  std::string list;
  for (const ScanParameter& parameter : parameters)
    (list += list.empty() ? "" : ", ") += parameter.name;
  return list.empty() ? "none" : list;
}

std::string text_of(std::span<const int> choices) {
  std::string list;
  for (const int choice : choices) (list += list.empty() ? "" : ", ") += std::to_string(choice);
  return list;
}

// Sets the parameter in "name=value".
void set_parameter(std::string_view text, ScanChoice& choice) {
  const auto fail = [&](const std::string& why) {
    throw ArgumentError("the scan algorithm " + std::string(choice.algorithm->id) + ": " + why);
  };
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string name(text.substr(0, equals));
  const std::span<const ScanParameter> parameters = choice.algorithm->parameters;
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const ScanParameter& p) { return p.name == name; });
  if (found == parameters.end())
    fail("no parameter \"" + name + "\"; known are " + names_of(parameters));
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + std::min(equals + 1, text.size()), end, value);
  if (error != std::errc() || stop != end ||
      std::find(found->choices.begin(), found->choices.end(), value) == found->choices.end())
    fail(name + " must be one of " + text_of(found->choices));
  choice.settings[static_cast<std::size_t>(found - parameters.begin())] = value;
}

}  // namespace

const ScanAlgorithm* find_scan(std::string_view id) {
  const std::span<const ScanAlgorithm* const> all = scan_algorithms();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ScanAlgorithm* a) { return a->id == id; });
  return found == all.end() ? nullptr : *found;
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
    (text += i == 0 ? "" : ",") +=
        std::string(algorithm.parameters[i].name) + "=" + std::to_string(settings[i]);
  return text;
}

ScanChoice parse_scan(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string id(text.substr(0, colon));
  ScanChoice choice{find_scan(id)};
  if (!choice.algorithm)
    throw ArgumentError("there is no scan algorithm \"" + id + "\"; known are " + ids());
  choice.settings = standard_settings(*choice.algorithm);
  for (std::size_t begin = colon + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    set_parameter(text.substr(begin, end - begin), choice);
    begin = end + 1;
  }
  return choice;
}

}  // namespace facesat::gpu

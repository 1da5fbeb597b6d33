#include "app/bench/scan_choices.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/bench/bench_cpu_scan.hpp"
#include "app/bench/gpu.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {
namespace {

bool is_among(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string id_in(const std::string& text) {
  return text.substr(0, text.find(':'));
}

// What "id" or "id:name=value,..." stands for; the id is known.
gpu::ScanContender contender_of(const std::string& text) {
  const std::string id = id_in(text);
  try {
    if (gpu::find_scan(id)) return {id, gpu::parse_scan(text).settings};
  } catch (const ArgumentError& error) {
    throw UsageError(fmt::format("--algorithm {}: {}", text, error.what()));
  }
  // Builds without CUDA do not know the parameters of the GPU's algorithms.
  const bool is_peer = id == "peer_cub" || is_among(cpu_scan_ids(), id);
  if (is_peer && text != id)
    throw UsageError(fmt::format("--algorithm {}: {} has no parameters", text, id));
  return {id};
}

// The algorithms, in the order of the rows. Without a GPU, "all" means those of the CPU.
void choose_contenders(const BenchScanCommand& command, const std::string& no_gpu,
                       ScanChoices& choices) {
  const std::vector<std::string> of_gpu = gpu::scan_bench_ids();
  std::vector<std::string> known = of_gpu;
  for (const std::string& id : cpu_scan_ids()) known.push_back(id);
  for (const std::string& text : command.algorithms) {
    if (text == "all") continue;
    if (!is_among(known, id_in(text)))
      throw UsageError(fmt::format("--algorithm {}: there is no such algorithm; known are {}", text,
                                   fmt::join(known, ", ")));
    contender_of(text);
    if (!no_gpu.empty() && is_among(of_gpu, id_in(text)))
      throw UsageError(fmt::format("--algorithm {} needs a GPU: {}", text, no_gpu));
  }
  const bool wants_all = command.algorithms.empty() || is_among(command.algorithms, "all");
  if (wants_all) choices.left_out = no_gpu;
  for (const std::string& id : known) {
    std::vector<std::string> texts;  // ways in which this algorithm is asked for
    for (const std::string& text : command.algorithms)
      if (id_in(text) == id && !is_among(texts, text)) texts.push_back(text);
    if (texts.empty() && wants_all && (no_gpu.empty() || !is_among(of_gpu, id)))
      texts.push_back(id);
    for (const std::string& text : texts) choices.contenders.push_back(contender_of(text));
    const gpu::ScanAlgorithm* const scan = gpu::find_scan(id);
    if (command.search && texts == std::vector{id} && scan && !scan->parameters.empty())
      choices.searched.push_back(id);
  }
}

gpu::ScanType type_named(const std::string& name) {
  std::vector<std::string_view> known;
  for (const gpu::ScanTypeInfo& info : gpu::scan_types) {
    if (info.name == name) return info.type;
    known.push_back(info.name);
  }
  throw UsageError(
      fmt::format("--type {}: there is no such type; known are {}", name, fmt::join(known, ", ")));
}

// The length that is written as "N" or "2^K".
int length_of(const std::string& text) {
  const bool is_power = text.starts_with("2^");
  const char *const begin = text.data() + (is_power ? 2 : 0), *const end =
                                                                  text.data() + text.size();
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(begin, end, value);
  if (is_power) value = value >= 0 && value < 62 ? std::int64_t{1} << value : -1;
  if (error != std::errc() || rest != end || value < 1 || value > gpu::longest_scan)
    throw UsageError(fmt::format(
        "--size {}: expected a number of elements from 1 to 2^30, like 1000 or 2^20", text));
  return static_cast<int>(value);
}

}  // namespace

ScanChoices scan_choices(const BenchScanCommand& command) {
  ScanChoices choices;
  for (const std::string& text : command.sizes) choices.lengths.push_back(length_of(text));
  for (const std::string& name : command.types) choices.types.push_back(type_named(name));
  const std::string no_gpu = why_no_gpu(command.device);
  choices.has_gpu = no_gpu.empty();
  for (const auto& [is_asked, option] :
       {std::pair(command.model, "--model"), std::pair(command.search, "--search")})
    if (is_asked && !choices.has_gpu)
      throw UsageError(fmt::format("{} needs a GPU: {}", option, no_gpu));
  choose_contenders(command, no_gpu, choices);
  if (command.search && choices.searched.empty())
    throw UsageError("--search: no algorithm with parameters is given without values for them");
  return choices;
}

}  // namespace facesat::app

#include "app/bench/sat_ids.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/bench/bench_cpu_sat.hpp"
#include "kernels/bench/sat_bench.hpp"
#include "kernels/sat/algorithm.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {
namespace {

// Four digits tell all candidates apart.
std::string with_value(std::string_view id, double value) {
  return fmt::format("{}:{:.4g}", id, value);
}

void check_id(const std::string& text, const std::vector<std::string>& known,
              const std::vector<std::string>& of_gpu, const std::string& no_gpu) {
  const std::string base = base_of(text);
  if (!contains(known, base))
    throw UsageError(fmt::format("--algorithm {}: there is no such algorithm; known are {}", text,
                                 fmt::join(known, ", ")));
  if (text != base) {
    const std::string why = contains(of_gpu, base) ? gpu::choose_sat(text).why_not
                                                   : fmt::format("{} has no parameter", base);
    if (!why.empty()) throw UsageError(fmt::format("--algorithm {}: {}", text, why));
  }
  if (!no_gpu.empty() && contains(of_gpu, base))
    throw UsageError(fmt::format("--algorithm {} needs a GPU: {}", text, no_gpu));
}

// The values of an algorithm's parameter that its paper has figures for, as ids.
std::vector<std::string> published_ids(const std::string& id) {
  std::vector<std::string> ids;
  if (has_parameter(id))
    for (const double value : gpu::find_sat(id)->parameter->published)
      ids.push_back(with_value(id, value));
  return ids;
}

}  // namespace

bool contains(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string base_of(const std::string& text) {
  return text.substr(0, text.find(':'));
}

bool wants_all(const std::vector<std::string>& asked) {
  return asked.empty() || contains(asked, "all");
}

std::vector<std::string> chosen_ids(const std::vector<std::string>& asked,
                                    const std::string& no_gpu) {
  const std::vector<std::string> of_gpu = gpu::sat_bench_ids();
  std::vector<std::string> known = of_gpu, ids;
  for (const std::string& id : cpu_sat_ids()) known.push_back(id);
  for (const std::string& text : asked)
    if (text != "all") check_id(text, known, of_gpu, no_gpu);
  const auto add = [&ids](const std::string& id) {
    if (!contains(ids, id)) ids.push_back(id);
  };
  for (const std::string& id : known) {
    if (wants_all(asked) && (no_gpu.empty() || !contains(of_gpu, id))) {
      add(id);
      for (const std::string& published : published_ids(id)) add(published);
    }
    for (const std::string& text : asked)
      if (base_of(text) == id) add(text);
  }
  return ids;
}

bool has_parameter(const std::string& id) {
  const gpu::SatAlgorithm* const sat = gpu::find_sat(base_of(id));
  return sat && sat->parameter;
}

std::vector<std::string> searched_ids(const std::vector<std::string>& chosen, Size size) {
  std::vector<std::string> ids;
  for (const std::string& text : chosen) {
    if (!has_parameter(text)) continue;
    const gpu::SatAlgorithm& sat = *gpu::find_sat(base_of(text));
    for (const double value : sat.parameter->candidates(size)) {
      const std::string id = with_value(sat.id, value);
      if (!contains(chosen, id) && !contains(ids, id)) ids.push_back(id);
    }
  }
  return ids;
}

}  // namespace facesat::app

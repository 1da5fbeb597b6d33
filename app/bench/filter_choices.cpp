#include "app/bench/filter_choices.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/bench/bench_cpu_filter.hpp"
#include "app/bench/gpu.hpp"
#include "app/bench/sat_ids.hpp"
#include "app/common/parse_size.hpp"
#include "core/filter/picture_filter.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {
namespace {

constexpr int largest_filter_side = 32768;

gpu::BenchFilter filter_named(const std::string& name) {
  const auto& names = gpu::bench_filter_names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw UsageError(fmt::format("--filter {}: there is no such filter; known are {}", name,
                                 fmt::join(names, ", ")));
  return static_cast<gpu::BenchFilter>(found - names.begin());
}

void check_radius(gpu::BenchFilter filter, int radius) {
  const bool is_sobel = filter == gpu::BenchFilter::sobel;
  const int greatest = is_sobel ? greatest_sobel_radius : greatest_filter_radius;
  if (radius < 1 || radius > greatest)
    throw UsageError(fmt::format("--radius {}: {} have radii from 1 to {}", radius,
                                 is_sobel ? "Sobel's derivatives" : "filters", greatest));
}

Size filter_size(const std::string& text) {
  const Size size = parse_size(text);
  if (size.width < 1 || size.height < 1 || size.width > largest_filter_side ||
      size.height > largest_filter_side)
    throw UsageError(fmt::format("--size {}: sides are from 1 to {}", text, largest_filter_side));
  return size;
}

void add_new(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& id : more)
    if (!contains(list, id)) list.push_back(id);
}

}  // namespace

std::vector<int> standard_radii(gpu::BenchFilter filter) {
  if (filter == gpu::BenchFilter::sobel) return {1, 2, 3};
  return {1, 2, 3, 5, 7, 10, 15};
}

std::string name_of(gpu::BenchFilter filter) {
  return std::string(gpu::bench_filter_names[static_cast<std::size_t>(filter)]);
}

FilterChoices filter_choices(const BenchFilterCommand& command) {
  FilterChoices choices;
  for (const std::string& text : command.sizes) choices.sizes.push_back(filter_size(text));
  std::vector<std::string> of_gpu, known;
  for (const std::string& name : command.filters) {
    const gpu::BenchFilter filter = filter_named(name);
    for (const int radius : command.radii) check_radius(filter, radius);
    choices.filters.push_back(
        {filter, command.radii.empty() ? standard_radii(filter) : command.radii});
    add_new(of_gpu, gpu::filter_bench_ids(filter));
    add_new(known, cpu_filter_ids(filter));
  }
  known.insert(known.begin(), of_gpu.begin(), of_gpu.end());

  const std::string no_gpu = why_no_gpu(command.device);
  choices.has_gpu = no_gpu.empty();
  for (const std::string& id : command.algorithms) {
    if (id == "all") continue;
    if (!contains(known, id))
      throw UsageError(fmt::format("--algorithm {}: there is no such algorithm of {}; known are {}",
                                   id, fmt::join(command.filters, ", "), fmt::join(known, ", ")));
    if (!no_gpu.empty() && contains(of_gpu, id))
      throw UsageError(fmt::format("--algorithm {} needs a GPU: {}", id, no_gpu));
  }
  const bool wants_all_ids = wants_all(command.algorithms);
  choices.ids = wants_all_ids ? known : command.algorithms;
  if (wants_all_ids) choices.left_out = no_gpu;
  return choices;
}

}  // namespace facesat::app

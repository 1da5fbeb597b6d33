#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <tbb/global_control.h>

#include "app/bench/bench_commands.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/cascade/late_division.hpp"
#include "kernels/cuda_backend.hpp"
#include "lab/files.hpp"
#include "lab/measure.hpp"
#include "lab/scene.hpp"
#include "support/errors.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

// The work that a picture gives a cascade, on any backend.
struct Work {
  std::size_t positions = 0;         // window positions, over all levels
  std::size_t weak_classifiers = 0;  // of every window, up to the stage that rejects it
  bool operator==(const Work&) const = default;
};

// Element i: the number of weak classifiers in stages 0 .. i. One more element repeats the total,
// for windows that pass all stages.
std::vector<std::size_t> classifiers_up_to(const Cascade& cascade) {
  std::vector<std::size_t> counts;
  std::size_t count = 0;
  for (const Stage& stage : cascade.stages) counts.push_back(count += stage.tree_count);
  counts.push_back(count);
  return counts;
}

// Counts the work by the depths, the numbers of stages that windows pass.
Work work_of(Backend& backend, const Cascade& cascade, const Pyramid& pyramid) {
  const std::vector<std::size_t> classifiers = classifiers_up_to(cascade);
  Work work;
  for (int i = 0; i < static_cast<int>(pyramid.levels.size()); ++i) {
    const Image<std::uint32_t> depth = backend.snapshot(Snapshot::depth, i);
    work.positions += depth.size().area();
    for (int y = 0; y < depth.size().height; ++y)
      for (int x = 0; x < depth.size().width; ++x)
        work.weak_classifiers += classifiers[depth.row(y)[x]];
  }
  return work;
}

struct Measured {
  Work work;
  std::size_t windows = 0;  // that passed all stages
  std::vector<double> us;   // of the evaluation in each frame, sorted
};

// What is measured: a backend, and on a GPU a division of the stages.
struct EvaluatingBackend {
  std::string backend, late;  // late: none, auto, or groups
  int device = 0;
  std::function<std::unique_ptr<Backend>()> make;
};

// Appends the numbers of a list such as 4,6,9; false if `text` is none, or does not rise.
bool read_stages(std::string_view text, int& last, std::vector<int>& stages) {
  for (const char *at = text.data(), *const end = at + text.size();;) {
    int first = 0;
    const auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc() || first <= last || (next != end && *next != ',')) return false;
    stages.push_back(last = first);
    if (next == end) return true;
    at = next + 1;
  }
}

// "none", "auto" (nullopt), or the first stages of the groups. Throws UsageError.
std::optional<gpu::LateDivision> parse_late(const std::string& text) {
  if (text == "auto") return std::nullopt;
  gpu::LateDivision division;
  if (text == "none") return division;
  const std::string_view all = text;
  const std::size_t slash = all.find('/');
  const bool has_slash = slash != std::string_view::npos;
  int last = 0;
  if ((has_slash && !read_stages(all.substr(0, slash), last, division.by_tiles)) ||
      !read_stages(all.substr(has_slash ? slash + 1 : 0), last, division.by_windows))
    throw UsageError(
        fmt::format("--late {}: expected none, auto, or the first stages of groups, rising from 1 "
                    "on, as 4,6,9 or 1,3/5,8",
                    text));
  return division;
}

// Runs whole frames, so that the caches hold what they hold in normal use; only the time of the
// evaluation is recorded. The CPU backend runs on one thread.
Measured measure(const EvaluatingBackend& contender, const std::shared_ptr<const Cascade>& cascade,
                 const lab::Scene& scene, const BenchCascadeCommand& command) {
  const int warm_up = contender.backend == "cuda" ? gpu::frames_before_measuring + 2 : 3;
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const Pyramid pyramid = plan_pyramid(scene.size, cascade->window, command.detect);
  const std::unique_ptr<Backend> backend = contender.make();
  backend->prepare(cascade, pyramid, command.detect);
  backend->load(scene.gray.view());
  Measured measured;
  for (int run = -warm_up; run < command.runs; ++run) {
    backend->run();
    measured.windows = backend->collect();
    if (run >= 0) measured.us.push_back(backend->times()[Step::evaluate] * 1000);
  }
  std::sort(measured.us.begin(), measured.us.end());
  measured.work = work_of(*backend, *cascade, pyramid);
  return measured;
}

// With "auto", what has been chosen, too.
std::string late_of(const EvaluatingBackend& contender,
                    const std::shared_ptr<const Cascade>& cascade, const Measured& measured) {
  if (contender.late != "auto") return contender.late;
  const std::optional<gpu::LateDivision> chosen =
      gpu::LateDivisions::of_process().find(contender.device, cascade, measured.work.positions);
  if (!chosen) return "auto: not measured";
  if (chosen->empty()) return "auto: none";
  return fmt::format("auto: {}{}{}", fmt::join(chosen->by_tiles, ","),
                     chosen->by_tiles.empty() ? "" : "/", fmt::join(chosen->by_windows, ","));
}

Json to_row(const std::string& backend, const std::string& late, const std::string& cascade,
            const lab::Scene& scene, const Measured& measured) {
  const double median = lab::quantile(measured.us, 0.5);
  return {{"backend", backend},
          {"late", late},
          {"cascade", cascade},
          {"width", scene.size.width},
          {"height", scene.size.height},
          {"median_us", median},
          {"min_us", measured.us.front()},
          {"p95_us", lab::quantile(measured.us, 0.95)},
          {"positions", measured.work.positions},
          {"weak_classifiers", measured.work.weak_classifiers},
          {"weak_classifiers_per_s", 1e6 * measured.work.weak_classifiers / median},
          {"windows", measured.windows}};
}

void print_title() {
  print(fmt::format("{:<8} {:<22} {:>9} {:>11} {:>11} {:>10} {:>9} {:>9} {:>8}  {}\n", "backend",
                    "cascade", "size", "median us", "min us", "positions", "weak/pos.", "G weak/s",
                    "windows", "late stages"));
}

void print_row(const Json& row) {
  const auto number = [&row](const char* key) { return row[key].get<double>(); };
  print(fmt::format(
      "{:<8} {:<22} {:>9} {:>11.1f} {:>11.1f} {:>10} {:>9.2f} {:>9.2f} {:>8}  {}\n",
      row["backend"].get<std::string>(), row["cascade"].get<std::string>(),
      fmt::format("{}x{}", row["width"].get<int>(), row["height"].get<int>()), number("median_us"),
      number("min_us"), number("positions"), number("weak_classifiers") / number("positions"),
      number("weak_classifiers_per_s") / 1e9, number("windows"), row["late"].get<std::string>()));
}

// With --backend auto: the CPU, and CUDA if this machine has a usable device.
std::vector<EvaluatingBackend> contenders_for(const BenchCascadeCommand& command,
                                              const std::shared_ptr<const Cascade>& cascade) {
  std::vector<EvaluatingBackend> all;
  const Backends backends(command.backend, {cascade});
  if (!backends.on_gpu() || command.backend.choice == BackendChoice::automatic)
    all.push_back({"cpu", "none", 0, make_cpu_backend});
  if (!backends.on_gpu()) return all;
  const int device = backends.devices().front().id;
  for (const std::string& late : command.late)
    all.push_back({"cuda", late, device, [device, sat = backends.sat(), groups = parse_late(late)] {
                     return gpu::make_cuda_backend(device, sat, {.late = groups});
                   }});
  return all;
}

}  // namespace

int run_bench_cascade(const BenchCascadeCommand& command) {
  lab::require_writable_table(command.json);
  const Picture picture = lab::read_scene_picture(command.image);
  const std::vector<Size> sizes = lab::scene_sizes(command.sizes, picture.pixels.size);
  check(command.detect);
  for (const std::string& late : command.late) parse_late(late);
  for (const std::string& cascade : command.cascades) {
    contenders_for(command, find_cascade(cascade));  // throws if one is not available
    for (const Size size : sizes) lab::require_windows(cascade, size, command.detect);
  }
  Json rows = Json::array();
  bool agree = true;
  print_title();
  for (const std::string& name : command.cascades) {
    const std::shared_ptr<const Cascade> cascade = find_cascade(name);
    for (const Size size : sizes) {
      const lab::Scene scene = lab::make_scene(picture, size);
      std::optional<Measured> first;
      for (const EvaluatingBackend& contender : contenders_for(command, cascade)) {
        Measured measured = measure(contender, cascade, scene, command);
        rows.push_back(to_row(contender.backend, late_of(contender, cascade, measured), name, scene,
                              measured));
        print_row(rows.back());
        if (!first)
          first = std::move(measured);
        else
          agree = agree && first->work == measured.work && first->windows == measured.windows;
      }
    }
  }
  if (!command.json.empty()) lab::write_table(command.json, rows);
  return agree ? 0 : 1;
}

}  // namespace facesat::app

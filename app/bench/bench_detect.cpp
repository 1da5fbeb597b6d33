#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench/bench_commands.hpp"
#include "app/bench/contender.hpp"
#include "cascades/cascade_store.hpp"
#include "lab/files.hpp"
#include "lab/measure.hpp"
#include "lab/scene.hpp"
#include "media/opencv.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Measured {
  // The times of the runs from the grey image to faces, and of those from the colour frame.
  std::vector<double> ms, with_upload_ms;
  std::vector<StepTimes> steps;  // of each run from the grey image
  double frames_per_second = 0;
};

template <class Work>
double milliseconds(Work work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A contender (a detector that is measured) with a number of threads: one row of the table.
struct Entry {
  Contender* contender;
  int threads;
};

// Processes frames one after the other, as in a video, for at least 50 ms. The first frame is not
// recorded if others follow, because it wakes threads and fills caches. Returns the milliseconds
// that were measured, those of the first frame included.
double take_turn(const Entry& entry, const lab::Scene& scene, Measured& measured) {
  constexpr double least_ms = 50;
  Contender& contender = *entry.contender;
  contender.use_threads(entry.threads);
  double spent = 0;
  for (bool first = true; first || spent < least_ms; first = false) {
    contender.load(scene.gray.view());
    const double ms = milliseconds([&] { contender.detect(); });
    const StepTimes steps = contender.times();
    const double with_upload = milliseconds([&] { contender.detect(scene.frame.pixels); });
    spent += ms + with_upload;
    if (first && spent < least_ms) continue;
    measured.ms.push_back(ms);
    measured.with_upload_ms.push_back(with_upload);
    measured.steps.push_back(steps);
  }
  return spent;
}

// The entries take turns, so that a disturbance of the machine affects all of them.
std::vector<Measured> measure(const std::vector<Entry>& entries, const lab::Scene& scene,
                              double seconds) {
  constexpr int least_turns = 5;
  std::vector<Measured> all(entries.size());
  for (const Entry& entry : entries) {  // warm-up
    Measured ignored;
    take_turn(entry, scene, ignored);
  }
  double spent = 0;
  for (int turn = 0;
       turn < least_turns || spent < seconds * 1000 * static_cast<double>(entries.size()); ++turn)
    for (std::size_t i = 0; i < entries.size(); ++i) spent += take_turn(entries[i], scene, all[i]);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].contender->use_threads(entries[i].threads);
    all[i].frames_per_second =
        entries[i].contender->frames_per_second(scene.frame.pixels, seconds / 2);
  }
  return all;
}

// The first step whose time is reported. The upload before it is left out, because the image is
// loaded beforehand.
constexpr auto first_step = static_cast<std::size_t>(Step::gray);

Json step_medians(const std::vector<StepTimes>& steps) {
  Json json;
  for (std::size_t s = first_step; s < step_names.size(); ++s) {
    std::vector<double> ms;
    for (const StepTimes& times : steps) ms.push_back(times.ms[s]);
    std::sort(ms.begin(), ms.end());
    json[std::string(step_names[s])] = lab::quantile(ms, 0.5);
  }
  return json;
}

Json to_row(const Entry& entry, const std::string& cascade, const lab::Scene& scene,
            Measured measured) {
  std::sort(measured.ms.begin(), measured.ms.end());
  std::sort(measured.with_upload_ms.begin(), measured.with_upload_ms.end());
  return {{"detector", entry.contender->name()},
          {"cascade", cascade},
          {"width", scene.size.width},
          {"height", scene.size.height},
          {"threads", entry.threads},
          {"sat", entry.contender->sat()},
          {"median_ms", lab::quantile(measured.ms, 0.5)},
          {"p95_ms", lab::quantile(measured.ms, 0.95)},
          {"p99_ms", lab::quantile(measured.ms, 0.99)},
          {"with_upload_ms", lab::quantile(measured.with_upload_ms, 0.5)},
          {"frames_per_second", measured.frames_per_second},
          {"stages", step_medians(measured.steps)}};
}

void print_row(const Json& row) {
  std::string line =
      fmt::format("{:<13} {:<22} {:>9} {:>3} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>8.1f} ",
                  row["detector"].get<std::string>(), row["cascade"].get<std::string>(),
                  fmt::format("{}x{}", row["width"].get<int>(), row["height"].get<int>()),
                  row["threads"].get<int>(), row["median_ms"].get<double>(),
                  row["p95_ms"].get<double>(), row["p99_ms"].get<double>(),
                  row["with_upload_ms"].get<double>(), row["frames_per_second"].get<double>());
  for (const auto& [name, ms] : row["stages"].items())
    line += fmt::format("{:>9.2f}", ms.get<double>());
  line += fmt::format("{:>9} {:>6}  {}\n", row["windows"].get<std::size_t>(),
                      row["faces"].get<std::size_t>(),
                      row["identical"].get<bool>() ? "identical" : "DIFFERENT");
  print(line);
}

void print_title() {
  std::string line =
      fmt::format("{:<13} {:<22} {:>9} {:>3} {:>9} {:>9} {:>9} {:>9} {:>8} ", "detector", "cascade",
                  "size", "thr", "median ms", "p95", "p99", "w/upload", "frames/s");
  for (std::size_t s = first_step; s < step_names.size(); ++s)
    line += fmt::format("{:>9}", step_names[s]);
  print(line + fmt::format("{:>9} {:>6}\n", "windows", "faces"));
}

using Contenders = std::vector<std::unique_ptr<Contender>>;

// With --backend auto: every detector that this build and machine have.
Contenders make_contenders(const std::string& cascade, const BenchDetectCommand& command) {
  Contenders contenders;
  const auto add = [&](BackendChoice choice) {
    BackendOptions options = command.backend;
    options.choice = choice;
    if (choice == BackendChoice::cpu) options.sat.clear();
    if (auto contender = make_facesat_contender(cascade, command.detect, options))
      contenders.push_back(std::move(contender));
  };
  if (command.backend.choice != BackendChoice::cuda) add(BackendChoice::cpu);
  if (command.backend.choice != BackendChoice::cpu) add(command.backend.choice);
  if (command.backend.choice == BackendChoice::cuda) return contenders;
  if (const auto file = cascade_file(cascade); file && has_opencv())
    if (auto contender = opencv().make_contender(file->string(), command.detect))
      contenders.push_back(std::move(contender));
  return contenders;
}

// Contenders that ignore the number of threads get a single entry.
std::vector<Entry> make_entries(const Contenders& contenders, const std::vector<int>& threads) {
  std::vector<Entry> entries;
  for (const int count : threads)
    for (const auto& contender : contenders)
      if (count == threads.front() || contender->has_threads())
        entries.push_back({contender.get(), count});
  return entries;
}

// Appends the rows of all contenders for one cascade and scene, and prints them. A row is identical
// if its windows before grouping are those of the first contender.
void bench(const std::string& cascade, const lab::Scene& scene, const BenchDetectCommand& command,
           Json& rows) {
  const Contenders contenders = make_contenders(cascade, command);
  const std::vector<Rect> expected = contenders.front()->windows(scene.gray.view());
  const std::vector<Entry> entries = make_entries(contenders, command.threads);
  const std::vector<Measured> measured = measure(entries, scene, command.seconds);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Contender& contender = *entries[i].contender;
    contender.use_threads(entries[i].threads);
    Json row = to_row(entries[i], cascade, scene, measured[i]);
    const std::vector<Rect> windows = contender.windows(scene.gray.view());
    row["windows"] = windows.size();
    contender.load(scene.gray.view());
    row["faces"] = contender.detect();
    row["identical"] = windows == expected;
    print_row(row);
    rows.push_back(std::move(row));
  }
}

}  // namespace

int run_bench_detect(const BenchDetectCommand& command) {
  lab::require_writable_table(command.json);
  const Picture picture = lab::read_scene_picture(command.image);
  const std::vector<Size> sizes = lab::scene_sizes(command.sizes, picture.pixels.size);
  check(command.detect);
  for (const std::string& cascade : command.cascades) {
    const Backends usable(command.backend, {find_cascade(cascade)});  // throws unless usable
    for (const Size size : sizes) lab::require_windows(cascade, size, command.detect);
  }
  Json rows = Json::array();
  print_title();
  for (const std::string& cascade : command.cascades)
    for (const Size size : sizes) bench(cascade, lab::make_scene(picture, size), command, rows);
  const bool agree =
      std::all_of(rows.begin(), rows.end(), [](const Json& row) { return row["identical"]; });
  if (!command.json.empty()) lab::write_table(command.json, rows);
  return agree ? 0 : 1;
}

}  // namespace facesat::app

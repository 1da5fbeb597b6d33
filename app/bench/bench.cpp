#include "app/bench/bench.hpp"

#include <thread>
#include <utility>

#include "app/bench/bench_commands.hpp"
#include "app/bench/problem_command.hpp"
#include "app/common/command_line.hpp"
#include "cascades/cascade_store.hpp"

namespace facesat::app {
namespace {

void add_table(CLI::App& bench, std::string& file) {
  add_file(bench, "--json", file, "Write the table to this file too, in place of an earlier one");
}

// Adds the options that bench detect and bench cascade have in common.
void add_scene_options(CLI::App& bench, SceneCommand& command) {
  bench.add_option("IMAGE", command.image, "The picture; cropped at the top left to each --size")
      ->required()
      ->type_name("");
  add_repeatable(bench, "--cascade", command.cascades, "NAME|FILE",
                 "As for 'facesat detect'; repeatable [frontalface_default]");
  add_repeatable(bench, "--size", command.sizes, "WxH",
                 "Of the crop; repeatable [the whole picture]");
  add_fields(bench, command.backend, backend_fields());
  add_field(bench, command.detect, detection_field("scale-factor"));
  add_table(bench, command.json);
}

void set_default_cascade(SceneCommand& command) {
  if (command.cascades.empty()) command.cascades.emplace_back(default_cascade_name);
}

CLI::App* add_bench_detect(CLI::App& bench, BenchDetectCommand& command) {
  CLI::App* detect = bench.add_subcommand("detect", "Whole detectors: milliseconds per frame");
  add_scene_options(*detect, command);
  detect->add_option("--threads", command.threads, "One row for each count: 1,2 [all cores]")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(whole_number(1, 1024));
  add_field(*detect, command.detect, detection_field("min-neighbors"));
  detect->add_option("--seconds", command.seconds, "Minimum time per row [2]")->type_name("S");
  detect->final_callback([&command] {
    if (!(command.seconds >= 0 && command.seconds <= 1e6))
      throw CLI::ValidationError("--seconds: expected from 0 to 1e6 seconds");
    set_default_cascade(command);
    if (command.threads.empty())
      command.threads.push_back(static_cast<int>(std::thread::hardware_concurrency()));
  });
  return detect;
}

CLI::App* add_bench_cascade(CLI::App& bench, BenchCascadeCommand& command) {
  CLI::App* cascade = bench.add_subcommand(
      "cascade",
      "The evaluation of cascades alone: microseconds per frame, weak classifiers per second");
  add_scene_options(*cascade, command);
  cascade
      ->add_option("--runs", command.runs,
                   "Timed frames for each row, on the GPU or on one thread of the CPU [31]")
      ->type_name("N")
      ->check(whole_number(1, 100000));
  add_repeatable(
      *cascade, "--late", command.late, "none|auto|[N,.../]N,...",
      "Stages that a GPU evaluates on its tensor cores: none; auto, what is fastest; or the "
      "first stages of groups that it evaluates one after the other, from 1 on; those before "
      "a slash tile by tile, the others window by window; repeatable [auto]");
  cascade->final_callback([&command] {
    set_default_cascade(command);
    if (command.late.empty()) command.late = {"auto"};
  });
  return cascade;
}

CLI::App* add_bench_micro(CLI::App& bench, BenchMicroCommand& command) {
  CLI::App* micro = bench.add_subcommand(
      "micro", "A GPU: latencies in clocks, throughputs, speed of copies, time of a launch");
  micro->add_option("--device", command.device, "The GPU, as 'facesat info' numbers them [0]")
      ->type_name("N")
      ->check(whole_number(0));
  add_table(*micro, command.json);
  return micro;
}

}  // namespace

std::vector<Command> add_bench(CLI::App& program) {
  CLI::App* bench = program.add_subcommand("bench", "Benchmarks");
  bench->require_subcommand(1);
  std::vector<Command> commands;
  for (auto& problem : lab::all_problems())
    commands.push_back(make_problem_command(*bench, std::move(problem)));
  commands.push_back(make_command(*bench, add_bench_detect, run_bench_detect));
  commands.push_back(make_command(*bench, add_bench_cascade, run_bench_cascade));
  commands.push_back(make_command(*bench, add_bench_micro, run_bench_micro));
  return commands;
}

}  // namespace facesat::app

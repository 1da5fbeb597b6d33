// The command lines of `facesat bench`.
#include <thread>

#include "app/bench/bench_cascade.hpp"
#include "app/bench/bench_detect.hpp"
#include "app/bench/bench_filter.hpp"
#include "app/bench/bench_micro.hpp"
#include "app/bench/bench_sat.hpp"
#include "app/bench/bench_scan.hpp"
#include "app/bench/bench_tasks.hpp"
#include "app/common/command_line.hpp"
#include "cascades/cascade_store.hpp"

namespace facesat::app {
namespace {

// The command line as it could be typed.
std::string line_of(const CLI::App& bench) {
  std::string line = "facesat bench " + bench.get_name();
  for (const CLI::Option* option : bench.get_options())
    for (const std::string& value : option->results())
      line += fmt::format(" {}{}", option->get_name(),
                          option->get_items_expected_max() > 0 ? " " + value : "");
  return line;
}

// Adds the options that bench detect and bench cascade have in common.
template <class Command>
void add_scene_options(CLI::App& bench, Command& command) {
  bench.add_option("IMAGE", command.image, "The picture; cropped at the top left to each --size")
      ->required()
      ->type_name("");
  const auto repeatable = [](CLI::Option* option, const char* type) {
    option->type_name(type)->expected(1)->take_all()->allow_extra_args(false);
  };
  repeatable(bench.add_option("--cascade", command.cascades,
                              "As for 'facesat detect'; repeatable [frontalface_default]"),
             "NAME|FILE");
  repeatable(
      bench.add_option("--size", command.sizes, "Of the crop; repeatable [the whole picture]"),
      "WxH");
  add_backend_options(bench, command.backend);
  bench
      .add_option("--scale-factor", command.detect.scale_factor,
                  "Between the levels of the pyramid [1.1]")
      ->type_name("F");
  bench
      .add_option("--json", command.json,
                  "Write the table to this file too, in place of an earlier one")
      ->type_name("FILE");
}

template <class Command>
void set_default_cascade(Command& command) {
  if (command.cascades.empty()) command.cascades.emplace_back(default_cascade_name);
}

}  // namespace

CLI::App* add_bench_sat(CLI::App& bench, BenchSatCommand& command) {
  CLI::App* sat = bench.add_subcommand("sat", "SAT algorithms: microseconds per table");
  const auto repeatable = [](CLI::Option* option) {
    option->expected(1)->take_all()->allow_extra_args(false);
  };
  repeatable(
      sat->add_option(
             "--algorithm", command.algorithms,
             "As 'facesat info' lists them, ID:VALUE to set a parameter; peer_cub, peer_npp: "
             "NVIDIA's libraries; cpu_2r2w, cpu_4r1w, cpu_backend; all; repeatable [all]")
          ->type_name("ID"));
  repeatable(
      sat->add_option("--type", command.types,
                      "Types of picture and table: 8u32s, 8u32u, 8u32f, 32s32s, 32u32u, 32f32f, "
                      "64f64f; repeatable [8u32s]")
          ->type_name("TYPE"));
  repeatable(
      sat->add_option(
             "--size", command.sizes,
             "Of the pictures; repeatable [1024x1024, 1280x720, 1920x1080, 3840x2160, 4096x4096]")
          ->type_name("WxH"));
  sat->add_flag("--squares", command.squares, "Sum the squares too (8-bit pictures only)");
  sat->add_option("--device", command.device, "The GPU, as 'facesat info' numbers them [0]")
      ->type_name("N")
      ->check(whole_number(0));
  sat->add_option("--runs", command.runs,
                  "Timed runs of each algorithm; fewer on the CPU above 4096x4096 [31]")
      ->type_name("N")
      ->check(whole_number(1, 100000));
  sat->add_flag(
      "--model", command.model,
      "Show the times that models predict too, from the figures of 'facesat bench micro'");
  sat->add_flag(
      "--kernels", command.kernels,
      "Show the kernels too, except NPP's: grid and block, registers per thread, bytes of "
      "shared memory per block, blocks that a multiprocessor has room for, and time");
  sat->add_flag("--search", command.search,
                "Look for the fastest value of each parameter: a row for every value tried");
  sat->add_option("--json", command.json,
                  "Write the table to this file too, in place of an earlier one")
      ->type_name("FILE");
  sat->add_option("--report", command.report,
                  "Write a page of charts and tables there, as HTML, in place of an earlier one")
      ->type_name("FILE");
  sat->final_callback([&command, sat] {
    command.line = line_of(*sat);
    if (command.types.empty()) command.types = {"8u32s"};
    if (command.sizes.empty())
      command.sizes = {"1024x1024", "1280x720", "1920x1080", "3840x2160", "4096x4096"};
  });
  return sat;
}

CLI::App* add_bench_scan(CLI::App& bench, BenchScanCommand& command) {
  CLI::App* scan = bench.add_subcommand("scan", "Prefix scans: microseconds per array");
  const auto repeatable = [&](const char* name, std::vector<std::string>& values, const char* help,
                              const char* type) {
    scan->add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  };
  repeatable("--algorithm", command.algorithms,
             "As 'facesat info' lists them, with values for parameters; peer_cub: NVIDIA's CUB; "
             "cpu_serial, cpu_threads; all; repeatable [all]",
             "ID[:NAME=N,...]");
  repeatable("--type", command.types,
             "Type of the elements: 32s, 32u, 64s, 32f, 64f; repeatable [32f, 32s]", "TYPE");
  add_choice<gpu::ScanOperator>(*scan, "--operator", command.op,
                                {{"sum", gpu::ScanOperator::sum},
                                 {"product", gpu::ScanOperator::product},
                                 {"minimum", gpu::ScanOperator::minimum},
                                 {"maximum", gpu::ScanOperator::maximum}},
                                "What combines the elements [sum]");
  scan->add_flag("--exclusive", command.is_exclusive,
                 "Leave each element itself out of its result");
  scan->add_flag("--in-place", command.in_place, "Write the results over the array");
  repeatable("--size", command.sizes,
             "Elements of the arrays, up to 2^30; repeatable [2^19, 2^21, 2^23, 2^27]", "N|2^K");
  scan->add_option("--device", command.device, "The GPU, as 'facesat info' numbers them [0]")
      ->type_name("N")
      ->check(whole_number(0));
  scan->add_option("--runs", command.runs,
                   "Timed runs of each algorithm; fewer on the CPU above 2^24 elements [31]")
      ->type_name("N")
      ->check(whole_number(1, 100000));
  scan->add_flag("--search", command.search,
                 "Look for the fastest parameters of each algorithm that is given without");
  scan->add_flag(
      "--model", command.model,
      "Show the times that a model predicts too, from the figures of 'facesat bench micro'");
  scan->add_option("--json", command.json,
                   "Write the table to this file too, in place of an earlier one")
      ->type_name("FILE");
  scan->add_option("--report", command.report,
                   "Write a page of charts and tables there, as HTML, in place of an earlier one")
      ->type_name("FILE");
  scan->final_callback([&command, scan] {
    command.line = line_of(*scan);
    if (command.types.empty()) command.types = {"32f", "32s"};
    if (command.sizes.empty()) command.sizes = {"2^19", "2^21", "2^23", "2^27"};
  });
  return scan;
}

CLI::App* add_bench_tasks(CLI::App& bench, BenchTasksCommand& command) {
  CLI::App* tasks = bench.add_subcommand(
      "tasks", "Task arrays (knapsack, error diffusion, SAT): microseconds per problem");
  const auto repeatable = [&](const char* name, std::vector<std::string>& values, const char* help,
                              const char* type) {
    tasks->add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  };
  repeatable("--problem", command.problems,
             "knapsack, error-diffusion, sat (type 32f32f), all; repeatable [all]", "NAME");
  repeatable("--schedule", command.schedules,
             "facesat: our own; skss_warps, skss_blocks, skss_resident, skss_counters: one launch "
             "whose rows wait for each other; steps, steps:N: a launch per step, N items per task; "
             "cpu_serial, cpu_threads, cpu_collection, cpu_diffusion, cpu_4r1w; all; repeatable "
             "[all]",
             "ID");
  repeatable("--size", command.sizes,
             "Of the problem, which must be one; repeatable [4096x16383 to 4096x524287 for "
             "knapsack, 1024x1024 to 32768x32768 for the others]",
             "ITEMSxCAPACITY|WxH");
  add_choice<gpu::HalftoneRule>(
      *tasks, "--rule", command.rule,
      {{"32f", gpu::HalftoneRule::real}, {"integer", gpu::HalftoneRule::integer}},
      "Errors of error diffusion as real numbers, or as whole ones, like Pillow's [32f]");
  tasks
      ->add_option("--image", command.image,
                   "A picture for error diffusion, cropped at the top left to each --size [a ramp]")
      ->type_name("FILE");
  tasks->add_option("--output", command.output, "Write the halftone to this .png file")
      ->type_name("FILE");
  tasks->add_option("--device", command.device, "The GPU, as 'facesat info' numbers them [0]")
      ->type_name("N")
      ->check(whole_number(0));
  tasks
      ->add_option("--runs", command.runs,
                   "Timed runs of each schedule; on the CPU fewer, if they take long [31]")
      ->type_name("N")
      ->check(whole_number(1, 100000));
  tasks
      ->add_option("--json", command.json,
                   "Write the table to this file too, in place of an earlier one")
      ->type_name("FILE");
  tasks
      ->add_option("--report", command.report,
                   "Write a page of charts and tables there, as HTML, in place of an earlier one")
      ->type_name("FILE");
  tasks->final_callback([&command, tasks] { command.line = line_of(*tasks); });
  return tasks;
}

CLI::App* add_bench_filter(CLI::App& bench, BenchFilterCommand& command) {
  CLI::App* filter =
      bench.add_subcommand("filter", "Convolutions and other filters: microseconds per picture");
  const auto repeatable = [&](const char* name, auto& values, const char* help, const char* type) {
    return filter->add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  };
  repeatable("--algorithm", command.algorithms,
             "facesat_*, integral_box, lecture_*: the GPU's convolutions; "
             "integral_statistics, direct_statistics, for variance and adaptive-threshold; "
             "three_boxes, for gaussian; peer_npp: NVIDIA's NPP; cpu_integral, cpu_separable, "
             "cpu_direct; all; repeatable [all]",
             "ID|all");
  repeatable("--filter", command.filters,
             "What is computed: the mean of a window, a Gaussian, Sobel's derivative along x, the "
             "sum of a window along rows, a mask that is not separable, the variance of a window, "
             "or a pixel "
             "compared with the mean of its window; repeatable [box]",
             "box|gaussian|sobel|stencil|convolution|variance|adaptive-threshold");
  repeatable("--radius", command.radii,
             "Of the window, up to 1450, for sobel up to 6; repeatable [1, 2, 3, 5, 7, 10, 15, for "
             "sobel 1, 2, 3]",
             "R")
      ->check(whole_number(1));
  add_choice<Border>(*filter, "--border", command.border,
                     {{"zero", Border::zero},
                      {"clamp", Border::clamp},
                      {"mirror", Border::mirror},
                      {"reflect101", Border::reflect101},
                      {"wrap", Border::wrap}},
                     "What lies beyond the edges of the picture [reflect101]");
  repeatable("--size", command.sizes, "Of the pictures; repeatable [3840x2160]", "WxH");
  filter->add_option("--device", command.device, "The GPU, as 'facesat info' numbers them [0]")
      ->type_name("N")
      ->check(whole_number(0));
  filter
      ->add_option("--runs", command.runs,
                   "Timed runs of each algorithm; on the CPU fewer, if they take long [31]")
      ->type_name("N")
      ->check(whole_number(1, 100000));
  filter
      ->add_option("--json", command.json,
                   "Write the table to this file too, in place of an earlier one")
      ->type_name("FILE");
  filter
      ->add_option("--report", command.report,
                   "Write a page of charts and tables there, as HTML, in place of an earlier one")
      ->type_name("FILE");
  filter->final_callback([&command, filter] {
    command.line = line_of(*filter);
    if (command.filters.empty()) command.filters = {"box"};
    if (command.sizes.empty()) command.sizes = {"3840x2160"};
  });
  return filter;
}

CLI::App* add_bench_detect(CLI::App& bench, BenchDetectCommand& command) {
  CLI::App* detect = bench.add_subcommand("detect", "Whole detectors: milliseconds per frame");
  add_scene_options(*detect, command);
  detect->add_option("--threads", command.threads, "One row for each count: 1,2 [all cores]")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(whole_number(1, 1024));
  detect
      ->add_option("--min-neighbors", command.detect.min_neighbors,
                   "Similar windows that a face needs [3]")
      ->type_name("N");
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
  cascade
      ->add_option(
          "--late", command.late,
          "Stages that a GPU evaluates on its tensor cores: none; auto, what is fastest; or the "
          "first stages of groups that it evaluates one after the other, from 1 on; those before "
          "a slash tile by tile, the others window by window; repeatable [auto]")
      ->type_name("none|auto|[N,.../]N,...")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
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
  micro
      ->add_option("--json", command.json,
                   "Write the table to this file too, in place of an earlier one")
      ->type_name("FILE");
  return micro;
}

}  // namespace facesat::app

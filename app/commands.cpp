#include "app/commands.hpp"

#include <string>
#include <utility>
#include <vector>

#include "app/bench/bench_cascade.hpp"
#include "app/bench/bench_detect.hpp"
#include "app/bench/bench_micro.hpp"
#include "app/bench/problem_command.hpp"
#include "app/common/command_line.hpp"
#include "app/detect/detect.hpp"
#include "app/info.hpp"
#include "app/live/live.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

CLI::App* add_info(CLI::App& program, bool& json) {
  CLI::App* info = program.add_subcommand("info", "Version, build, backends, devices, algorithms");
  info->add_flag("--json", json, "As JSON");
  return info;
}

// `shown` stays empty for the list.
void add_cascades(CLI::App& program, std::string& shown) {
  CLI::App* cascades =
      program.add_subcommand("cascades", "List the cascades, or the stages of one");
  cascades->add_subcommand("list", "All cascades (the same as without a subcommand)");
  CLI::App* show = cascades->add_subcommand("show", "The stages of one cascade");
  show->add_option("NAME", shown, "A name from the list, or a file")->required()->type_name("");
  cascades->require_subcommand(0, 1);
}

}  // namespace

struct Commands::Parsed {
  DetectCommand detect;
  LiveCommand live;
  BenchDetectCommand bench_detect;
  BenchCascadeCommand bench_cascade;
  BenchMicroCommand bench_micro;
  bool info_as_json = false;
  std::string shown_cascade;
  std::vector<std::unique_ptr<ProblemCommand>> bench_problems;
  const CLI::App *detect_app, *live_app, *bench_detect_app, *bench_cascade_app, *bench_micro_app,
      *info_app;
};

Commands::Commands()
    : parsed_(std::make_unique<Parsed>()),
      parser_(std::make_unique<CLI::App>("Finds faces in pictures and videos, with exactly the "
                                         "rectangles of OpenCV's detector.")) {
  Parsed& p = *parsed_;
  parser_->name("facesat");
  parser_->set_version_flag("--version", std::string("facesat ") + FACESAT_VERSION);
  parser_->set_help_all_flag("--help-all", "Help for all subcommands");
  parser_->require_subcommand(1);
  p.detect_app = add_detect(*parser_, p.detect);
  p.live_app = add_live(*parser_, p.live);
  CLI::App* bench = parser_->add_subcommand("bench", "Benchmarks");
  bench->require_subcommand(1);
  for (auto& problem : lab::all_problems())
    p.bench_problems.push_back(std::make_unique<ProblemCommand>(*bench, std::move(problem)));
  p.bench_detect_app = add_bench_detect(*bench, p.bench_detect);
  p.bench_cascade_app = add_bench_cascade(*bench, p.bench_cascade);
  p.bench_micro_app = add_bench_micro(*bench, p.bench_micro);
  p.info_app = add_info(*parser_, p.info_as_json);
  add_cascades(*parser_, p.shown_cascade);
  refuse_empty_values(*parser_);
}

Commands::~Commands() = default;

int Commands::run() const {
  const Parsed& p = *parsed_;
  if (p.detect_app->parsed()) return run_detect(p.detect);
  if (p.live_app->parsed()) return run_live(p.live);
  for (const auto& problem : p.bench_problems)
    if (problem->is_chosen()) return problem->run();
  if (p.bench_detect_app->parsed()) return run_bench_detect(p.bench_detect);
  if (p.bench_cascade_app->parsed()) return run_bench_cascade(p.bench_cascade);
  if (p.bench_micro_app->parsed()) return run_bench_micro(p.bench_micro);
  if (p.info_app->parsed())
    print(p.info_as_json ? info_json() : info_text());
  else
    print(p.shown_cascade.empty() ? cascade_list() : cascade_details(p.shown_cascade));
  return 0;
}

}  // namespace facesat::app

// facesat: one program, one catch.
#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/bench/bench_detect.hpp"
#include "app/bench/bench_micro.hpp"
#include "app/bench/bench_sat.hpp"
#include "app/detect/detect.hpp"
#include "app/errors.hpp"
#include "app/info.hpp"
#include "app/interrupt.hpp"
#include "app/io/files.hpp"
#include "app/live/live.hpp"
#include "app/messages.hpp"

namespace facesat::app {
namespace {

enum ExitStatus { all_well = 0, some_failed = 1, wrong_usage = 2 };

int print(const std::string& text) {
  write_all(1, text, "standard output");
  return all_well;
}

int run(int argc, char** argv) {
  CLI::App program(
      "Finds faces in pictures and films, with exactly the rectangles of OpenCV's detector.");
  program.name("facesat");
  program.set_version_flag("--version", std::string("facesat ") + FACESAT_VERSION);
  program.set_help_all_flag("--help-all", "Help for all subcommands");
  program.require_subcommand(1);

  DetectCommand detect;
  const CLI::App* detect_app = add_detect(program, detect);

  LiveCommand live;
  const CLI::App* live_app = add_live(program, live);

  CLI::App* bench = program.add_subcommand("bench", "Measured tables");
  bench->require_subcommand(1);
  BenchSatCommand bench_sat;
  const CLI::App* bench_sat_app = add_bench_sat(*bench, bench_sat);
  BenchDetectCommand bench_detect;
  const CLI::App* bench_detect_app = add_bench_detect(*bench, bench_detect);
  BenchMicroCommand bench_micro;
  const CLI::App* bench_micro_app = add_bench_micro(*bench, bench_micro);

  CLI::App* info = program.add_subcommand("info", "Version, build, backends, devices, algorithms");
  bool json = false;
  info->add_flag("--json", json, "As JSON");

  CLI::App* cascades =
      program.add_subcommand("cascades", "What can be loaded, and what is inside one");
  cascades->add_subcommand("list", "All cascades (the same as without a subcommand)");
  CLI::App* show = cascades->add_subcommand("show", "The stages of one cascade");
  std::string shown;
  show->add_option("NAME", shown, "A name from the list, or an XML file")
      ->required()
      ->type_name("");
  cascades->require_subcommand(0, 1);

  const auto is_command = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  const auto commands = program.get_subcommands({});
  if (argc > 1 && *argv[1] != '-' && std::none_of(commands.begin(), commands.end(), is_command))
    throw UsageError(fmt::format("there is no command \"{}\": see 'facesat --help'", argv[1]));
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? all_well : wrong_usage;
  }
  if (detect_app->parsed()) return run_detect(detect);
  if (live_app->parsed()) return run_live(live);
  if (bench_sat_app->parsed()) return run_bench_sat(bench_sat);
  if (bench_detect_app->parsed()) return run_bench_detect(bench_detect);
  if (bench_micro_app->parsed()) return run_bench_micro(bench_micro);
  if (info->parsed()) return print(json ? info_json() : info_text());
  return print(show->parsed() ? cascade_details(shown) : cascade_list());
}

int complain(const char* what, ExitStatus status) {
  say(fmt::format("facesat: {}\n", what));
  return status;
}

}  // namespace
}  // namespace facesat::app

int main(int argc, char** argv) {
  using namespace facesat::app;
  try {
    return run(argc, argv);
  } catch (const ClosedPipe&) {
    end_as_closed_pipe();
  } catch (const OutputError& error) {
    return complain(error.what(), some_failed);
  } catch (const std::exception& error) {  // usage, cascades, options: nothing was processed
    return complain(error.what(), wrong_usage);
  }
}

#include "app/commands.hpp"

#include <algorithm>
#include <string>

#include "app/common/command_line.hpp"
#include "app/detect/detect.hpp"
#include "app/evaluate/evaluate.hpp"
#include "app/info.hpp"
#include "app/live/live.hpp"
#include "app/train/samples_command.hpp"
#include "app/train/train_command.hpp"
#include "support/messages.hpp"
#if FACESAT_LAB
#include "app/bench/bench.hpp"
#endif

namespace facesat::app {
namespace {

struct InfoCommand {
  bool json = false;
};

CLI::App* add_info(CLI::App& program, InfoCommand& command) {
  CLI::App* info = program.add_subcommand("info", "Version, build, backends, devices, algorithms");
  info->add_flag("--json", command.json, "As JSON");
  return info;
}

int run_info(const InfoCommand& command) {
  print(command.json ? info_json() : info_text());
  return 0;
}

struct CascadesCommand {
  std::string shown;  // empty: the list
};

CLI::App* add_cascades(CLI::App& program, CascadesCommand& command) {
  CLI::App* cascades =
      program.add_subcommand("cascades", "List the cascades, or the stages of one");
  const auto add_name = [&command](CLI::App& parser) {
    return parser.add_option("NAME", command.shown, "A name from the list, or a file")
        ->type_name("");
  };
  add_name(*cascades);
  cascades->add_subcommand("list", "All cascades (the same as without a NAME)");
  CLI::App* show = cascades->add_subcommand("show", "The stages of one cascade");
  add_name(*show)->required();
  cascades->require_subcommand(0, 1);
  return cascades;
}

int run_cascades(const CascadesCommand& command) {
  print(command.shown.empty() ? cascade_list() : cascade_details(command.shown));
  return 0;
}

}  // namespace

Commands::Commands()
    : parser_(std::make_unique<CLI::App>("Finds faces in pictures and videos, with exactly the "
                                         "rectangles of OpenCV's detector.")) {
  parser_->name("facesat");
  parser_->set_version_flag("--version", std::string("facesat ") + FACESAT_VERSION);
  parser_->set_help_all_flag("--help-all", "Help for all subcommands");
  parser_->require_subcommand(1);
  commands_.push_back(make_command(*parser_, add_detect, run_detect));
  commands_.push_back(make_command(*parser_, add_live, run_live));
  commands_.push_back(make_command(*parser_, add_samples, run_samples));
  commands_.push_back(make_command(*parser_, add_train, run_train));
  commands_.push_back(make_command(*parser_, add_evaluate, run_evaluate));
#if FACESAT_LAB
  for (Command& command : add_bench(*parser_)) commands_.push_back(std::move(command));
#endif
  commands_.push_back(make_command(*parser_, add_info, run_info));
  commands_.push_back(make_command(*parser_, add_cascades, run_cascades));
  refuse_empty_values(*parser_);
}

Commands::~Commands() = default;

int Commands::run() const {
  const auto is_parsed = [](const Command& command) { return command.parser->parsed(); };
  return std::ranges::find_if(commands_, is_parsed)->run();
}

}  // namespace facesat::app

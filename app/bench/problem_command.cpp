#include "app/bench/problem_command.hpp"

#include <utility>

#include "app/common/command_line.hpp"
#include "lab/files.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/html.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

// Adds an option of a problem.
struct Add {
  CLI::App& parser;
  const lab::Option& option;
  void operator()(bool* flag) const { parser.add_flag(option.name, *flag, option.help); }
  void operator()(std::string* text) const {
    parser.add_option(option.name, *text, option.help)->type_name(option.type);
  }
  void operator()(std::vector<std::string>* texts) const {
    add_repeatable(parser, option.name, *texts, option.type, option.help);
  }
  void operator()(const lab::Option::Choice& choice) const {
    std::map<std::string, std::string> words;
    for (const std::string& word : choice.words) words[word] = word;
    add_choice(parser, option.name, *choice.value, words, option.help);
  }
};

// All files have different names, and may be written.
void require_writable_files(const lab::Problem& problem, const lab::Request& request) {
  std::vector<std::pair<std::string, std::string>> files{{"--json", request.json},
                                                         {"--report", request.report}};
  for (const auto& more : problem.further_files()) files.push_back(more);
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (!files[i].second.empty() && !files[k].second.empty() &&
          same_file(files[i].second, files[k].second))
        throw UsageError(
            fmt::format("{} and {} need different files", files[k].first, files[i].first));
  lab::require_writable_table(request.json);
  html::require_writable_page(request.report);
}

int run(lab::Problem& problem, lab::Request& request) {
  const std::string left_out = problem.choose(request);
  require_writable_files(problem, request);
  problem.prepare(request);
  if (!left_out.empty())
    say(fmt::format("facesat: GPU {}s are left out: {}\n", problem.algorithms_option.substr(2),
                    left_out));
  lab::Table table(problem.columns());
  problem.run(request, table);
  if (!request.json.empty()) lab::write_table(request.json, table.rows());
  if (!request.report.empty())
    html::write_page(request.report,
                     lab::page_of(problem, table.rows(), lab::machine_json(), request.line));
  return table.all_right() ? 0 : 1;
}

}  // namespace

Command make_problem_command(CLI::App& bench, std::unique_ptr<lab::Problem> owned) {
  const std::shared_ptr<lab::Problem> problem = std::move(owned);
  const auto request = std::make_shared<lab::Request>();
  CLI::App& parser = *bench.add_subcommand(std::string(problem->name), std::string(problem->help));
  add_repeatable(parser, problem->algorithms_option, request->algorithms, problem->algorithms_type,
                 problem->algorithms_help);
  for (const lab::Option& option : problem->options) std::visit(Add{parser, option}, option.value);
  add_repeatable(parser, "--size", request->sizes, problem->sizes_type, problem->sizes_help);
  parser.add_option("--device", request->device, "The GPU, as 'facesat info' numbers them [0]")
      ->type_name("N")
      ->check(whole_number(0));
  parser
      .add_option("--runs", request->runs,
                  "Timed runs of each algorithm; fewer where they take long [31]")
      ->type_name("N")
      ->check(whole_number(1, 100000));
  add_file(parser, "--json", request->json,
           "Write the table to this file too, in place of an earlier one");
  add_file(parser, "--report", request->report,
           "Write a page of charts and tables there, as HTML, in place of an earlier one");
  parser.final_callback(
      [&request = *request, &parser] { request.line = "facesat bench " + line_of(parser); });
  return {&parser, [problem, request] { return run(*problem, *request); }};
}

}  // namespace facesat::app

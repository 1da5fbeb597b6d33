#include "app/bench/problem_command.hpp"

#include <utility>

#include "app/common/command_line.hpp"
#include "lab/files.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

// The command line as it could be typed.
std::string line_of(const CLI::App& parser) {
  std::string line = "facesat bench " + parser.get_name();
  for (const CLI::Option* option : parser.get_options())
    for (const std::string& value : option->results())
      line += fmt::format(" {}{}", option->get_name(),
                          option->get_items_expected_max() > 0 ? " " + value : "");
  return line;
}

void add_repeatable(CLI::App& parser, const std::string& name, const std::string& type,
                    const std::string& help, std::vector<std::string>& values) {
  parser.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

// Adds an option of a problem.
struct Add {
  CLI::App& parser;
  const lab::Option& option;
  void operator()(bool* flag) const { parser.add_flag(option.name, *flag, option.help); }
  void operator()(std::string* text) const {
    parser.add_option(option.name, *text, option.help)->type_name(option.type);
  }
  void operator()(std::vector<std::string>* texts) const {
    add_repeatable(parser, option.name, option.type, option.help, *texts);
  }
  void operator()(const lab::Option::Choice& choice) const {
    std::map<std::string, std::string> words;
    for (const std::string& word : choice.words) words[word] = word;
    add_choice(parser, option.name, *choice.value, words, option.help);
  }
};

void add_file(CLI::App& parser, const char* name, const char* help, std::string& file) {
  parser.add_option(name, file, help)->type_name("FILE");
}

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
  lab::require_writable_page(request.report);
}

}  // namespace

ProblemCommand::ProblemCommand(CLI::App& bench, std::unique_ptr<lab::Problem> problem)
    : problem_(std::move(problem)),
      request_(std::make_unique<lab::Request>()),
      parser_(bench.add_subcommand(std::string(problem_->name), std::string(problem_->help))) {
  lab::Request& request = *request_;
  add_repeatable(*parser_, problem_->algorithms_option, problem_->algorithms_type,
                 problem_->algorithms_help, request.algorithms);
  for (const lab::Option& option : problem_->options)
    std::visit(Add{*parser_, option}, option.value);
  add_repeatable(*parser_, "--size", problem_->sizes_type, problem_->sizes_help, request.sizes);
  parser_->add_option("--device", request.device, "The GPU, as 'facesat info' numbers them [0]")
      ->type_name("N")
      ->check(whole_number(0));
  parser_
      ->add_option("--runs", request.runs,
                   "Timed runs of each algorithm; fewer where they take long [31]")
      ->type_name("N")
      ->check(whole_number(1, 100000));
  add_file(*parser_, "--json", "Write the table to this file too, in place of an earlier one",
           request.json);
  add_file(*parser_, "--report",
           "Write a page of charts and tables there, as HTML, in place of an earlier one",
           request.report);
  parser_->final_callback([&request, parser = parser_] { request.line = line_of(*parser); });
}

bool ProblemCommand::is_chosen() const {
  return parser_->parsed();
}

int ProblemCommand::run() {
  const std::string left_out = problem_->choose(*request_);
  require_writable_files(*problem_, *request_);
  problem_->prepare(*request_);
  if (!left_out.empty())
    say(fmt::format("facesat: GPU {}s are left out: {}\n", problem_->algorithms_option.substr(2),
                    left_out));
  lab::Table table(problem_->columns());
  problem_->run(*request_, table);
  if (!request_->json.empty()) lab::write_table(request_->json, table.rows());
  if (!request_->report.empty())
    lab::write_page(request_->report,
                    lab::page_of(*problem_, table.rows(), lab::machine_json(), request_->line));
  return table.all_right() ? 0 : 1;
}

}  // namespace facesat::app

#include <CLI/CLI.hpp>

#include "app/reference/reference.hpp"

namespace facesat::app {
namespace {

// "; needs --output; not with --raw": the parser's rules, which its help shows beside the name.
std::string rules_of(const CLI::Option& option) {
  std::string rules;
  for (const CLI::Option* other : option.get_needs()) rules += "; needs " + other->get_name();
  for (const CLI::Option* other : option.get_excludes()) rules += "; not with " + other->get_name();
  return rules;
}

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  if (option.get_positional())
    text.value = option.get_name(true);
  else if (option.get_items_expected_max() > 0)
    text.value = option.get_type_name();
  text.meaning = option.get_description() + rules_of(option);
  text.required = option.get_required();
  text.repeats = option.get_items_expected_max() > 1;
  return text;
}

void add(CLI::App& command, const std::string& name, std::vector<CommandText>& list) {
  CommandText text{name,
                   command.get_description(),
                   command.get_footer(),
                   {},
                   {},
                   {},
                   command.get_require_subcommand_min() > 0};
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr() || option == command.get_help_all_ptr()) continue;
    (option->get_positional() ? text.arguments : text.options).push_back(text_of(*option));
  }
  const auto subcommands = command.get_subcommands({});
  for (const CLI::App* subcommand : subcommands) text.subcommands.push_back(subcommand->get_name());
  list.push_back(std::move(text));
  for (CLI::App* subcommand : subcommands)
    add(*subcommand, (name.empty() ? "" : name + " ") + subcommand->get_name(), list);
}

}  // namespace

std::vector<CommandText> command_list(CLI::App& program) {
  std::vector<CommandText> list;
  add(program, "", list);
  return list;
}

}  // namespace facesat::app

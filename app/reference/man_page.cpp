#include <sstream>

#include <fmt/format.h>

#include "app/reference/reference.hpp"
#include "facesat.hpp"

namespace facesat::app {
namespace {

// As text: no character has a meaning in man(7), nor is replaced by a typographic one.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '.':
        result += result.empty() || result.ends_with('\n') ? "\\&." : ".";
        break;
      default:
        result += c;
    }
  return result;
}

// Ended by one full stop.
std::string sentence(const std::string& text) {
  return escaped(text) + (text.ends_with('.') ? "\n" : ".\n");
}

std::string argument(const OptionText& text) {
  const std::string name =
      fmt::format("\\fI{}\\fR{}", escaped(text.value), text.repeats ? " ..." : "");
  return text.required ? name : "[" + name + "]";
}

std::string usage(const CommandText& command) {
  std::string line = ".B facesat " + escaped(command.name) + "\n";
  if (!command.options.empty()) line += "[\\fIOPTION\\fR ...]\n";
  for (const OptionText& text : command.arguments) line += argument(text) + "\n";
  return line;
}

std::string definition(const OptionText& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
  if (option.names.empty()) return ".TP\n" + argument(option) + "\n" + sentence(option.meaning);
  if (!option.value.empty()) names += fmt::format(" \\fI{}\\fR", escaped(option.value));
  return ".TP\n" + names + "\n" + sentence(option.meaning);
}

// Indented lines are examples and keep their form; the others become paragraphs.
std::string paragraphs(const std::string& footer) {
  std::istringstream lines(footer);
  std::string text, line;
  bool in_examples = true;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    const bool is_example = line.starts_with("  ");
    if (is_example != in_examples)
      text += is_example ? ".nf\n" : text.empty() ? ".PP\n" : ".fi\n.PP\n";
    in_examples = is_example;
    text += escaped(line) + "\n";
  }
  return text;
}

std::string section(const CommandText& command) {
  std::string text = fmt::format(".SS facesat {}\n", escaped(command.name));
  text += sentence(command.meaning);
  for (const OptionText& option : command.arguments) text += definition(option);
  for (const OptionText& option : command.options) text += definition(option);
  return text + paragraphs(command.footer);
}

void replace(std::string& page, std::string_view mark, const std::string& text) {
  const std::size_t at = page.find(mark);
  if (at == page.npos) throw ArgumentError(fmt::format("the page has no {}", mark));
  page.replace(at, mark.size(), text);
}

}  // namespace

std::string man_page(std::string page, const std::vector<CommandText>& commands) {
  std::string synopsis, sections;
  for (const CommandText& command : commands) {
    if (command.needs_subcommand) continue;
    synopsis += (synopsis.empty() ? "" : ".br\n") + usage(command);
    sections += section(command);
  }
  replace(page, "@VERSION@", std::string(version()));
  replace(page, "@SYNOPSIS@\n", synopsis);
  replace(page, "@COMMANDS@\n", sections);
  return page;
}

}  // namespace facesat::app

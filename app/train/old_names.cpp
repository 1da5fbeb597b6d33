#include "app/train/old_names.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/parse_number.hpp"
#include "support/errors.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

using Arguments = std::vector<std::string>;

enum class Becomes {
  option,   // `name`, with its value
  flag,     // `name`, without a value
  input,    // its value is an input
  width,    // its value is the window's width
  height,   // or height
  nothing,  // it has no effect: `note` says why
  refused,  // `note` says what to do instead
};

struct OldName {
  std::string_view old, name;
  Becomes becomes = Becomes::option;
  std::string_view note = {};  // a sentence on what differs; empty: nothing does
};

constexpr OldName samples_names[] = {
    {"-info", "", Becomes::input},
    {"-img", "", Becomes::input,
     "without -bgcolor no part of the picture is transparent (opencv_createsamples: what is darker "
     "than 80)"},
    {"-vec", "--output"},
    {"-bg", "--background"},
    {"-num", "--count"},
    {"-w", "", Becomes::width},
    {"-h", "", Becomes::height},
    {"-bgcolor", "--transparent"},
    {"-bgthresh", "--tolerance"},
    {"-inv", "--invert", Becomes::flag},
    {"-randinv", "--invert-at-random", Becomes::flag},
    {"-maxidev", "--intensity"},
    {"-maxxangle", "--max-x-angle"},
    {"-maxyangle", "--max-y-angle"},
    {"-maxzangle", "--max-z-angle"},
    {"-rngseed", "--seed"},
    {"-show", "", Becomes::nothing, "samples are shown by a picture of them: -o SHEET.png"},
    {"-maxscale", "", Becomes::nothing,
     "backgrounds have all sizes from the window to the whole picture"},
    {"-pngoutput", "", Becomes::refused, "name a folder for the pictures instead: -o FOLDER"},
};

// A command that has old names.
struct OldCommand {
  std::string_view name;
  std::span<const OldName> names;
  // Changes arguments in a way that depends on several of them; they still have their old names.
  void (*prepare)(Arguments&);
};

bool contains(const Arguments& arguments, std::string_view name) {
  return std::ranges::find(arguments, name) != arguments.end();
}

// With -img, -num is the number of its distorted copies, and not a limit.
void prepare_samples(Arguments& arguments) {
  const bool has_picture = contains(arguments, "-img"), has_info = contains(arguments, "-info");
  if (has_picture && has_info)
    throw UsageError(
        "-img with -info: test pictures are not made; -img with -vec makes samples for training");
  if (contains(arguments, "-vec") && !has_picture && !has_info)
    throw UsageError(
        "-vec alone: to see the samples of a .vec file, give it as the input, and a picture as the "
        "output: facesat samples FILE.vec -o SHEET.png");
  if (!has_picture) return;
  std::ranges::replace(arguments, std::string("-num"), std::string("--distort"));
  if (!contains(arguments, "--distort")) arguments.emplace_back("--distort=1000");
}

constexpr OldCommand commands[] = {{"samples", samples_names, prepare_samples}};

bool is_number(const std::string& text) {
  return parse_number<int>(text).has_value();
}

// What the argument at that place is the name of; null if it is none. -h without a number asks for
// help.
const OldName* find(const OldCommand& command, const Arguments& arguments, std::size_t at) {
  const auto known = std::ranges::find(command.names, arguments[at], &OldName::old);
  if (known == command.names.end()) return nullptr;
  const bool has_number = at + 1 < arguments.size() && is_number(arguments[at + 1]);
  return known->becomes != Becomes::height || has_number ? &*known : nullptr;
}

// A single dash has short options behind it, of which there are few.
bool is_misspelt(const std::string& argument) {
  constexpr std::string_view short_options = "hjoq";
  return argument.size() > 1 && argument[0] == '-' &&
         std::isalpha(static_cast<unsigned char>(argument[1])) != 0 &&
         short_options.find(argument[1]) == short_options.npos;
}

void refuse_misspelt(const OldCommand& command, const Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (const OldName* const known = find(command, arguments, i)) {
      const Becomes becomes = known->becomes;
      i += becomes != Becomes::flag && becomes != Becomes::nothing && becomes != Becomes::refused;
    } else if (is_misspelt(arguments[i])) {
      std::vector<std::string_view> old;
      for (const OldName& name : command.names) old.push_back(name.old);
      throw UsageError(
          fmt::format("{}: there is no such option; options begin with two dashes (see 'facesat {} "
                      "--help'), or are the old {}",
                      arguments[i], command.name, fmt::join(old, ", ")));
    }
  }
}

// Replaces the arguments of one command.
class Renaming {
 public:
  Renaming(const OldCommand& command, const Arguments& arguments)
      : command_(command), arguments_(arguments) {}

  Arguments result() {
    while (at_ < arguments_.size() && arguments_[at_] != "--") step();
    if (width_ || height_) {
      constexpr int usual = 24;
      result_.push_back(
          fmt::format("--window={}x{}", width_.value_or(usual), height_.value_or(usual)));
    }
    result_.insert(result_.end(), arguments_.begin() + static_cast<std::ptrdiff_t>(at_),
                   arguments_.end());
    return result_;
  }

 private:
  void step() {
    if (const OldName* const known = find(command_, arguments_, at_)) return rename(*known);
    result_.push_back(arguments_[at_++]);
  }

  void rename(const OldName& known) {
    if (known.becomes == Becomes::refused)
      throw UsageError(fmt::format("{}: {}", known.old, known.note));
    if (!known.note.empty()) say_line(fmt::format("facesat: {}: {}", known.old, known.note));
    ++at_;
    switch (known.becomes) {
      case Becomes::option:
        result_.push_back(fmt::format("{}={}", known.name, value_of(known)));
        break;
      case Becomes::input:
        result_.push_back(value_of(known));
        break;
      case Becomes::width:
        width_ = side_of(known);
        break;
      case Becomes::height:
        height_ = side_of(known);
        break;
      case Becomes::flag:
        result_.emplace_back(known.name);
        break;
      case Becomes::nothing:  // it may have a number, which has no effect, either
        if (at_ < arguments_.size() && parse_number<double>(arguments_[at_])) ++at_;
        break;
      case Becomes::refused:
        break;
    }
  }

  std::string value_of(const OldName& known) {
    if (at_ >= arguments_.size() || arguments_[at_].empty())
      throw UsageError(fmt::format("{}: a value is missing", known.old));
    return arguments_[at_++];
  }

  int side_of(const OldName& known) {
    const std::string value = value_of(known);
    if (!is_number(value))
      throw UsageError(fmt::format("{}: expected a whole number, not \"{}\"", known.old, value));
    return *parse_number<int>(value);
  }

  const OldCommand& command_;
  const Arguments& arguments_;
  std::size_t at_ = 0;  // of the argument that is looked at
  Arguments result_;
  std::optional<int> width_, height_;
};

}  // namespace

Arguments with_new_names(Arguments arguments) {
  const auto command = std::ranges::find_if(commands, [&](const OldCommand& one) {
    return !arguments.empty() && arguments.front() == one.name;
  });
  if (command == std::end(commands)) return arguments;
  refuse_misspelt(*command, arguments);
  command->prepare(arguments);
  return Renaming(*command, arguments).result();
}

}  // namespace facesat::app

#include "app/train/old_names.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/parse_number.hpp"
#include "support/errors.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

using Arguments = std::vector<std::string>;

enum class Becomes {
  option,    // `name`, with its value
  flag,      // `name`, without a value
  input,     // its value is an input
  folder,    // `name`, with the file cascade.xml in this folder
  width,     // its value is the window's width
  height,    // or height
  prepared,  // something else: see OldCommand::prepare
  nothing,   // it has no effect: `note` says why
  refused,   // `note` says what to do instead
};

struct OldName {
  std::string_view old, name;
  Becomes becomes = Becomes::option;
  std::string_view note = {};  // a sentence on what differs; empty: nothing does
};

constexpr std::string_view memory_note = "--memory MIB says how much memory is used";

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

constexpr OldName train_names[] = {
    {"-data", "--output", Becomes::folder},
    {"-vec", "", Becomes::input},
    {"-bg", "--negatives", Becomes::option,
     "negatives are found among all windows of all sizes, those of mirror images, too: there are "
     "hundreds of times as many as on the grid of opencv_traincascade"},
    {"-numPos", "--positives-per-stage"},
    {"-numNeg", "--negatives-per-stage"},
    {"-numStages", "--stages"},
    {"-precalcValBufSize", "", Becomes::nothing, memory_note},
    {"-precalcIdxBufSize", "", Becomes::nothing, memory_note},
    {"-baseFormatSave", "", Becomes::nothing, "the present format is written, which OpenCV reads"},
    {"-numThreads", "--jobs"},
    {"-acceptanceRatioBreakValue", "", Becomes::prepared},
    {"-stageType", "", Becomes::prepared},
    {"-featureType", "", Becomes::prepared},
    {"-mode", "", Becomes::prepared},
    {"-w", "", Becomes::width},
    {"-h", "", Becomes::height},
    {"-bt", "", Becomes::prepared},
    {"-minHitRate", "--hit-rate"},
    {"-maxFalseAlarmRate", "--false-alarms"},
    {"-weightTrimRate", "--trim"},
    {"-maxDepth", "--depth"},
    {"-maxWeakCount", "--trees"},
};

// A command that has old names.
struct OldCommand {
  std::string_view name;
  std::string_view flags;  // short options without a value
  std::span<const OldName> names;
  // Changes arguments in a way that depends on several of them; they still have their old names.
  void (*prepare)(Arguments&);
};

bool contains(const Arguments& arguments, std::string_view name) {
  return std::ranges::find(arguments, name) != arguments.end();
}

// Adds an option before all others, where it is not taken for the value of one.
void add(Arguments& arguments, std::string option) {
  arguments.insert(arguments.begin() + 1, std::move(option));
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
  if (!contains(arguments, "--distort")) add(arguments, "--distort=1000");
}

// Takes an option and its value away.
std::optional<std::string> taken(Arguments& arguments, std::string_view name) {
  const auto at = std::ranges::find(arguments, name);
  if (at == arguments.end()) return std::nullopt;
  if (at + 1 == arguments.end() || at[1].empty())
    throw UsageError(fmt::format("{}: a value is missing", name));
  std::string value = at[1];
  arguments.erase(at, at + 2);
  return value;
}

struct Word {
  std::string_view old, present;
};

// The present word for an old one.
std::string_view present(std::string_view name, const std::string& value,
                         std::span<const Word> words) {
  const auto word = std::ranges::find(words, value, &Word::old);
  if (word != words.end()) return word->present;
  std::vector<std::string_view> old;
  for (const Word& one : words) old.push_back(one.old);
  throw UsageError(fmt::format("{}: expected {}, not \"{}\"", name, fmt::join(old, "|"), value));
}

// -featureType and -mode together say which features there are.
void prepare_features(Arguments& arguments) {
  constexpr Word types[] = {{"HAAR", "haar-basic"}, {"LBP", "lbp"}};
  constexpr Word modes[] = {{"BASIC", "haar-basic"}, {"CORE", "haar-core"}, {"ALL", "haar-all"}};
  const auto type = taken(arguments, "-featureType"), mode = taken(arguments, "-mode");
  if (!type && !mode) return;
  std::string_view features = present("-featureType", type.value_or("HAAR"), types);
  if (mode) {
    const std::string_view of_haar = present("-mode", *mode, modes);
    if (features != "lbp") features = of_haar;
  }
  add(arguments, fmt::format("--features={}", features));
}

void prepare_train(Arguments& arguments) {
  const auto is_old = [](const std::string& argument) {
    return argument != "-h" &&
           std::ranges::find(train_names, argument, &OldName::old) != std::end(train_names);
  };
  const auto chooses = [](const std::string& argument) {
    return argument.starts_with("--held-out") || argument.starts_with("--validation");
  };
  if (std::ranges::none_of(arguments, is_old)) return;
  prepare_features(arguments);
  constexpr Word boostings[] = {
      {"DAB", "discrete"}, {"RAB", "real"}, {"LB", "logit"}, {"GAB", "gentle"}};
  if (const auto value = taken(arguments, "-bt"))
    add(arguments, fmt::format("--boosting={}", present("-bt", *value, boostings)));
  constexpr Word stages[] = {{"BOOST", ""}};
  if (const auto value = taken(arguments, "-stageType")) present("-stageType", *value, stages);
  if (const auto value = taken(arguments, "-acceptanceRatioBreakValue");
      value && !value->starts_with('-'))  // a negative one is none
    add(arguments, fmt::format("--goal={}", *value));
  if (std::ranges::none_of(arguments, chooses)) {
    add(arguments, "--held-out=0");
    say_line(
        "facesat: with the names of opencv_traincascade, all samples are learnt from; --held-out "
        "0.1 shows over-training");
  }
}

constexpr OldCommand commands[] = {{"samples", "hq", samples_names, prepare_samples},
                                   {"train", "hqr", train_names, prepare_train}};

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

// What follows a single dash are short options, of which there are few.
bool is_misspelt(const std::string& argument, std::string_view flags) {
  constexpr std::string_view with_value = "jo";
  return argument.size() > 1 && argument[0] == '-' &&
         std::isalpha(static_cast<unsigned char>(argument[1])) != 0 &&
         with_value.find(argument[1]) == with_value.npos &&
         argument.find_first_not_of(flags, 1) != argument.npos;
}

void refuse_misspelt(const OldCommand& command, const Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (const OldName* const known = find(command, arguments, i)) {
      const Becomes becomes = known->becomes;
      i += becomes != Becomes::flag && becomes != Becomes::nothing && becomes != Becomes::refused;
    } else if (is_misspelt(arguments[i], command.flags)) {
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
      case Becomes::folder:
        result_.push_back(
            fmt::format("{}={}", known.name,
                        (std::filesystem::path(value_of(known)) / "cascade.xml").string()));
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
      case Becomes::prepared:
        throw UsageError(fmt::format("{}: this option can only be given once", known.old));
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

#include "app/train/search_journal.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <variant>

#include <fmt/format.h>

#include "app/common/fields.hpp"
#include "datasets/training_folder.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> searchable{"features", "window", "hit-rate", "depth",
                                                     "negatives-per-stage"};

[[noreturn]] void refuse(const Json& json, const char* reason) {
  throw Json::other_error::create(501, reason, &json);
}

const Choice<TrainOptions>& feature_sets() {
  const auto& fields = training_fields();
  return std::get<Choice<TrainOptions>>(
      std::ranges::find(fields, "features", &Field<TrainOptions>::name)->value);
}

Json json_of(const Settings& settings) {
  return {{"features", feature_sets().words[static_cast<std::size_t>(settings.features)]},
          {"window", {settings.window.width, settings.window.height}},
          {"hit_rate", settings.hit_rate},
          {"depth", settings.depth},
          {"negatives_per_stage", settings.negatives_per_stage}};
}

Settings settings_of(const Json& json) {
  const int features = feature_sets().index_of(json.at("features").get<std::string>());
  if (features < 0) refuse(json, "there are no such features");
  return {.features = static_cast<FeatureSet>(features),
          .window = {json.at("window").at(0), json.at("window").at(1)},
          .hit_rate = json.at("hit_rate"),
          .depth = json.at("depth"),
          .negatives_per_stage = json.at("negatives_per_stage")};
}

Json json_of(const Trial& trial) {
  Json json{{"settings", trial.settings},     {"fold", trial.fold},
            {"stages", trial.stages},         {"trees", trial.trees},
            {"seconds", trial.seconds},       {"megapixels", trial.curve.megapixels},
            {"windows", trial.curve.windows}, {"curve", Json::array()}};
  for (const training::CurvePoint& point : trial.curve.points)
    json["curve"].push_back(
        {{"stages", point.stages}, {"accepted", point.accepted}, {"hit_rate", point.hit_rate}});
  return json;
}

Trial trial_of(const Json& json) {
  Trial trial{.settings = json.at("settings"),
              .fold = json.at("fold"),
              .stages = json.at("stages"),
              .trees = json.at("trees"),
              .seconds = json.at("seconds"),
              .curve = {.megapixels = json.at("megapixels"), .windows = json.at("windows")}};
  for (const Json& point : json.at("curve"))
    trial.curve.points.push_back({.stages = point.at("stages"),
                                  .accepted = point.at("accepted"),
                                  .hit_rate = point.at("hit_rate")});
  if (!(trial.curve.megapixels > 0) || trial.curve.points.empty()) refuse(json, "no curve");
  return trial;
}

}  // namespace

std::span<const std::string_view> searchable_options() {
  return searchable;
}

Settings settings_of(const TrainCommand& command) {
  return {.features = command.training.features,
          .window = command.samples.samples.window,
          .hit_rate = command.training.hit_rate,
          .depth = command.training.depth,
          .negatives_per_stage = command.training.negatives_per_stage};
}

void apply(const Settings& settings, TrainCommand& command) {
  command.training.features = settings.features;
  command.samples.samples.window = settings.window;
  command.training.hit_rate = settings.hit_rate;
  command.training.depth = settings.depth;
  command.training.negatives_per_stage = settings.negatives_per_stage;
}

std::string text_of(const Settings& settings, std::string_view option) {
  TrainCommand command;
  apply(settings, command);
  std::string value;
  const auto look_in = [&](const auto& fields, const auto& options) {
    for (const auto& field : fields)
      if (field.name == option) value = text_of(field, options);
  };
  look_in(training_fields(), command.training);
  look_in(sample_fields(), command.samples.samples);
  return fmt::format("--{} {}", option, value);
}

std::string text_of(const Settings& settings) {
  std::string text;
  for (const std::string_view option : searchable)
    text += (text.empty() ? "" : " ") + text_of(settings, option);
  return text;
}

// ---- the file

SearchJournal::SearchJournal(std::filesystem::path file) : file_(std::move(file)) {
  std::ifstream lines(file_);
  std::string complete, line;
  while (std::getline(lines, line) && !lines.eof()) {
    try {
      read(Json::parse(line));
    } catch (const Json::exception&) {
      throw UsageError(
          fmt::format("{}: the file is damaged; --restart begins anew", file_.string()));
    }
    complete += line + '\n';
  }
  lines.close();
  if (!line.empty()) training::replace_file(file_, complete);
}

void SearchJournal::begin(const Json& inputs) {
  if (inputs_.is_null()) write({{"inputs", inputs}});
  if (inputs_ != inputs)
    throw UsageError(
        fmt::format("{}: the search was begun with other samples, pictures, --stages or --goal; "
                    "--restart begins anew",
                    file_.string()));
}

const Trial* SearchJournal::find(const std::string& settings, int fold) const {
  const auto found = std::ranges::find_if(trials_, [&](const Trial& trial) {
    return trial.settings == settings && trial.fold == fold;
  });
  return found == trials_.end() ? nullptr : &*found;
}

void SearchJournal::add(const Trial& trial) {
  write(json_of(trial));
}

void SearchJournal::end(const Settings& best) {
  write({{"best", json_of(best)}});
}

void SearchJournal::read(const Json& line) {
  if (line.contains("inputs"))
    inputs_ = line["inputs"];
  else if (line.contains("best"))
    best_ = settings_of(line["best"]);
  else
    trials_.push_back(trial_of(line));
}

void SearchJournal::write(const Json& line) {
  std::ofstream file(file_, std::ios::app);
  file << line.dump() << '\n';
  if (!file.flush()) throw OutputError(fmt::format("{}: cannot be written", file_.string()));
  read(line);
}

}  // namespace facesat::app

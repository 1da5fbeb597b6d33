#include "app/train/training_log.hpp"

#include <fstream>
#include <system_error>

#include <nlohmann/json.hpp>

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

training::Rates rates_of(const Json& json) {
  return {.hit_rate = json.at("hit_rate"), .false_alarm = json.at("false_alarms")};
}

}  // namespace

std::filesystem::path log_of_training(const std::filesystem::path& cascade) {
  return cascade.string() + ".training/log.jsonl";
}

bool TrainingLog::read() {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file_, error);
  if (error || size == position_) return false;
  if (size < position_) *this = TrainingLog(file_);
  std::ifstream file(file_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(position_));
  bool is_more = false;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    position_ += line.size() + 1;
    is_more = true;
    try {
      add(line);
    } catch (const Json::exception&) {  // a damaged line
    }
  }
  return is_more;
}

void TrainingLog::add(const std::string& line) {
  const Json event = Json::parse(line);
  const std::string kind = event.at("event");
  if (kind == "message") {
    message_ = event.at("text");
    return;
  }
  constexpr std::size_t most = 1000;  // of facesat train
  const std::size_t number = event.at("stage");
  if (number >= most) return;
  LoggedStage stage;
  if (kind != "stage" && number < stages_.size()) stage = stages_[number];
  if (kind == "stage") {
    stage.positives = event.at("positives");
    stage.negatives = event.at("negatives");
    stage.acceptance = event.at("acceptance");
  } else {
    stage.trees = event.at(kind == "tree" ? "tree" : "trees");
    stage.rates = rates_of(event);
    stage.is_complete = kind == "stage_end";
    if (event.contains("held_out")) stage.held_out = rates_of(event["held_out"]);
  }
  stages_.resize(number + 1);  // stages after it were of a training that was begun anew
  stages_[number] = stage;
}

}  // namespace facesat::app

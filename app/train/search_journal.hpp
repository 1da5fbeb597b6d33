// What a search for settings of a training (settings_search.hpp) has tried, in a file, so that it
// can go on when it was interrupted.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "app/train/train_command.hpp"
#include "training/cross_validation.hpp"

namespace facesat::app {

// The settings that a search can vary.
struct Settings {
  FeatureSet features{};
  Size window;
  double hit_rate = 0;
  int depth = 0;
  int negatives_per_stage = 0;
};

// Their options, in the order in which they are searched.
std::span<const std::string_view> searchable_options();

Settings settings_of(const TrainCommand& command);
void apply(const Settings& settings, TrainCommand& command);

// As arguments of the program: of one option, and of all.
std::string text_of(const Settings& settings, std::string_view option);
std::string text_of(const Settings& settings);

// A cascade that was trained without a fold, and what it does with it.
struct Trial {
  std::string settings;
  int fold = 0;
  int stages = 0;
  std::size_t trees = 0;
  double seconds = 0;
  training::Curve curve{};  // of at least one point
};

// JSON Lines: what the trials depend on, but for the options that a training may not change; the
// trials; at last the best settings. A line that was not completed counts for nothing.
class SearchJournal {
 public:
  // Reads what there is. Throws UsageError if it is damaged.
  explicit SearchJournal(std::filesystem::path file);

  // Throws UsageError if the search was begun with something else.
  void begin(const nlohmann::ordered_json& inputs);
  // Of these settings; null if there is none. It stays where it is.
  const Trial* find(const std::string& settings, int fold) const;
  void add(const Trial& trial);
  // Nullopt until the search has ended.
  const std::optional<Settings>& best() const { return best_; }
  void end(const Settings& best);

 private:
  void read(const nlohmann::ordered_json& line);
  void write(const nlohmann::ordered_json& line);  // throws OutputError

  std::filesystem::path file_;
  nlohmann::ordered_json inputs_;
  std::deque<Trial> trials_;
  std::optional<Settings> best_;
};

}  // namespace facesat::app

// The panel of a training that runs, or has run: of the cascade in use whose file facesat train
// writes. Its stages and rates, how few windows still pass, the first features, and the negatives
// that look most like objects.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/chart.hpp"
#include "app/live/gui/picture_view.hpp"
#include "app/live/gui/screen.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/threads.hpp"
#include "app/train/training_log.hpp"
#include "media/codec.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> picture_files{"features.png", "hardest.png"};
constexpr std::array<const char*, 2> picture_titles{"First stage's features", "Hardest negatives"};
constexpr std::array<const char*, 2> picture_meanings{
    "Each feature of the first stage, on the mean of the positives; drawn once training has ended",
    "The negatives of the stage that look most like objects. Those that are objects spoil all that "
    "follows: mark them, or take their pictures away"};

// What is known of the training of one cascade.
struct TrainingState {
  std::string cascade;  // its file
  std::vector<LoggedStage> stages;
  std::string message;
  std::array<std::optional<Image<Bgr>>, picture_files.size()> pictures{};  // that have changed
};

// Follows the training of a cascade, in a thread, because files may be slow to read.
class TrainingWatcher {
 public:
  TrainingWatcher()
      : thread_([this](const std::stop_token& stop) { run_once(stop); },
                [](const std::string&) {}) {}

  // From now on, the training of the first of these cascades that has one.
  void watch(const std::vector<std::string>& cascades) {
    const std::scoped_lock lock(mutex_);
    if (cascades == cascades_) return;
    cascades_ = cascades;
    changed_.notify_all();
  }
  // What has changed since the last call; without stages, there is no training.
  std::optional<TrainingState> take() { return state_.take(); }

 private:
  void run_once(const std::stop_token& stop);
  void read_pictures(TrainingState& state);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::string> cascades_;
  Mailbox<TrainingState> state_;
  // Of the thread.
  std::vector<std::string> watched_;
  std::string cascade_;
  std::optional<TrainingLog> log_;
  std::array<fs::file_time_type, picture_files.size()> times_{};
  GuardedThread thread_;  // last: it uses all of the above
};

void TrainingWatcher::run_once(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds interval{500};
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, interval, [this] { return cascades_ != watched_; });
    if (stop.stop_requested()) return;
    watched_ = cascades_;
  }
  std::error_code ignored;
  const auto is_trained = [&](const std::string& name) {
    return fs::is_regular_file(log_of_training(name), ignored);
  };
  const auto found = std::ranges::find_if(watched_, is_trained);
  const std::string cascade = found == watched_.end() ? "" : *found;
  const bool is_other = cascade != cascade_;
  if (is_other) {
    cascade_ = cascade;
    log_.emplace(log_of_training(cascade));
    times_ = {};
  }
  if (!(log_ && !cascade.empty() && log_->read()) && !is_other) return;
  TrainingState state{.cascade = cascade, .stages = {}, .message = {}};
  if (!cascade.empty()) {
    state.stages = log_->stages();
    state.message = log_->message();
    read_pictures(state);
  }
  state_.put(std::move(state));
  Screen::wake();
}

void TrainingWatcher::read_pictures(TrainingState& state) {
  for (std::size_t i = 0; i < picture_files.size(); ++i) {
    const fs::path file = log_of_training(cascade_).parent_path() / picture_files[i];
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(file, error);
    if (error || time == times_[i]) continue;
    try {
      state.pictures[i] = shrink(read_picture(file.string()).pixels, 1);
      times_[i] = time;
    } catch (const Error&) {  // it is being written
    }
  }
}

constexpr std::array<Column, 6> stage_columns{{
    {"stage", "Counted from 0", ImGuiTableColumnFlags_WidthFixed},
    {"trees", "Weak classifiers: stumps, or trees of --depth"},
    {"hits", "The part of the positives that pass this stage"},
    {"false", "The part of its negatives that pass"},
    {"held out", "The part of the positives that pass of those that nothing was learnt from"},
    {"windows", "The stages before let one of this number of windows without objects pass"},
}};

// Fills a cell.
void draw_cell(const std::string& text) {
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(text.c_str());
}

void draw_stages(const std::vector<LoggedStage>& stages) {
  constexpr float most_rows = 8.5f;
  const float rows = std::min(static_cast<float>(stages.size()) + 1, most_rows);
  const int flags =
      ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingStretchSame;
  if (!begin_table("stages", stage_columns, flags, rows * ImGui::GetTextLineHeightWithSpacing()))
    return;
  for (std::size_t i = stages.size(); i-- > 0;) {  // the newest first
    const LoggedStage& stage = stages[i];
    const double windows = 1 / std::max(stage.acceptance, 1e-12);
    ImGui::TableNextRow();
    draw_cell(fmt::format("{}{}", i, stage.is_complete ? "" : "..."));
    draw_cell(fmt::format("{}", stage.trees));
    draw_cell(fmt::format("{:.4f}", stage.rates.hit_rate));
    draw_cell(fmt::format("{:.4f}", stage.rates.false_alarm));
    draw_cell(stage.held_out ? fmt::format("{:.4f}", stage.held_out->hit_rate) : "");
    draw_cell(windows < 100 ? fmt::format("{:.3g}", windows) : fmt::format("{:.0f}", windows));
  }
  ImGui::EndTable();
}

// A column for each stage; a tooltip has what the column says.
void draw_column_chart(const char* id, const std::vector<double>& values, const char* what) {
  const double top = axis_top(*std::ranges::max_element(values), 0);
  const Chart chart{.colours = {IM_COL32(86, 180, 233, 255)},
                    .values = values,
                    .slots = std::max<std::size_t>(values.size(), 10),
                    .top = top,
                    .lines = {},
                    .marked = {},
                    .selected = {}};
  ImGui::TextDisabled("%s", what);
  const ChartPointer pointer = draw_chart(id, chart, 6 * ImGui::GetTextLineHeight());
  if (pointer.column)
    draw_tooltip(fmt::format("stage {}: {:.3g}", *pointer.column, values[*pointer.column]));
}

void draw_charts(const std::vector<LoggedStage>& stages) {
  std::vector<double> digits, trees;
  for (const LoggedStage& stage : stages) {
    digits.push_back(-std::log10(std::clamp(stage.acceptance, 1e-12, 1.0)));
    trees.push_back(stage.trees);
  }
  draw_column_chart("passing", digits, "N: one of 10^N windows passes the stages before");
  draw_column_chart("trees", trees, "weak classifiers");
}

class TrainingPanel final : public Panel {
 public:
  TrainingPanel() : Panel("Training", true, Side::right) {}
  bool is_wanted(const PanelContext&) const override { return !state_.stages.empty(); }
  void begin(PanelContext& context) override;
  void draw(PanelContext& context) override;

 private:
  int complete_stages() const {
    return static_cast<int>(std::ranges::count(state_.stages, true, &LoggedStage::is_complete));
  }
  void draw_pictures(PanelContext& context);

  TrainingWatcher watcher_;
  TrainingState state_;
  std::array<std::optional<Texture>, picture_files.size()> textures_;
  bool follows_ = true;
};

void TrainingPanel::begin(PanelContext& context) {
  watcher_.watch(context.choices.settings.cascades);
  std::optional<TrainingState> state = watcher_.take();
  if (!state) return;
  const int before = complete_stages();
  const bool is_same = state->cascade == state_.cascade;
  for (std::size_t i = 0; i < textures_.size(); ++i) {
    if (!is_same) textures_[i].reset();
    if (state->pictures[i]) textures_[i].emplace().set(state->pictures[i]->view());
  }
  state_ = *std::move(state);
  if (is_same && follows_ && complete_stages() != before) context.wishes.cascades = true;
}

void TrainingPanel::draw(PanelContext& context) {
  draw_status(state_.message, "What facesat train has said last of " + state_.cascade);
  if (ImGui::Checkbox("detect with the newest stages", &follows_) && follows_)
    context.wishes.cascades = true;
  tooltip(
      "Reads the cascade anew after every stage; otherwise, objects are found with the stages that "
      "it had");
  draw_stages(state_.stages);
  draw_charts(state_.stages);
  draw_pictures(context);
}

void TrainingPanel::draw_pictures(PanelContext& context) {
  for (std::size_t i = 0; i < textures_.size(); ++i) {
    if (!textures_[i]) continue;
    ImGui::TextDisabled("%s", picture_titles[i]);
    const Size size = textures_[i]->size();
    const float width = ImGui::GetContentRegionAvail().x;
    const float scale = std::min(width / static_cast<float>(size.width), 3.0f);
    const ImVec2 corner = ImGui::GetCursorScreenPos(),
                 extent{scale * static_cast<float>(size.width),
                        scale * static_cast<float>(size.height)};
    const bool pressed = ImGui::InvisibleButton(picture_files[i], extent);
    textures_[i]->draw(*ImGui::GetWindowDrawList(), corner,
                       {corner.x + extent.x, corner.y + extent.y});
    tooltip(fmt::format("{}. A click opens the picture", picture_meanings[i]));
    if (pressed)
      context.wishes.open = {
          {(log_of_training(state_.cascade).parent_path() / picture_files[i]).string()}};
  }
}

}  // namespace

std::unique_ptr<Panel> make_training_panel() {
  return std::make_unique<TrainingPanel>();
}

}  // namespace facesat::app

// The panel of a detector of the user's own: objects are marked in pictures and frames, and
// `facesat train` learns from them, in a process of its own, while the window shows what the stages
// so far find.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>
#include <nlohmann/json.hpp>

#include "app/live/gui/widgets.hpp"
#include "app/live/marks.hpp"
#include "app/live/own_process.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/start_page.hpp"
#include "app/live/panels/window_parts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t least_objects = 10;  // that facesat train learns from

const std::array<Entry, 2> feature_sets{
    {{"lbp", "Local binary patterns: trained in a minute, and quick to find"},
     {"haar-basic", "Haar-like features: take longer, and often have fewer false alarms"}}};

// Is most of the smaller one in the other?
bool are_alike(const Rect& a, const Rect& b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x),
               height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  const double smaller =
      std::min(static_cast<double>(a.width) * a.height, static_cast<double>(b.width) * b.height);
  return width > 0 && height > 0 && 2 * width * height > smaller;
}

// The name of a cascade, in the folder, that does not exist.
std::string new_detector(const fs::path& folder) {
  std::error_code ignored;
  for (int number = 1;; ++number) {
    const fs::path file =
        folder / (number == 1 ? "detector.xml" : fmt::format("detector-{}.xml", number));
    if (!fs::exists(file, ignored) && !fs::exists(file.string() + ".training", ignored))
      return file.string();
  }
}

bool contains(const Rect& box, ImVec2 point) {
  return point.x >= static_cast<float>(box.x) && point.x < static_cast<float>(box.x + box.width) &&
         point.y >= static_cast<float>(box.y) && point.y < static_cast<float>(box.y + box.height);
}

class MarkingPanel final : public Panel {
 public:
  MarkingPanel() : Panel("Your own detector", false) {}

  void begin(PanelContext& context) override;
  void draw(PanelContext& context) override;
  void draw_over(PanelContext& context) override;
  bool handle_key(const Screen::Press& press, PanelContext& context) override;
  void remember(const Remembered&, nlohmann::ordered_json& file) const override;
  void recall(const nlohmann::ordered_json& file, Remembered&) override;

 private:
  static bool has_picture(const PanelContext& context) {
    return context.result.frame.picture.pixels.size.area() > 0;
  }
  void toggle(PanelContext& context);
  bool open_marks(PanelContext& context);
  std::optional<Marks::Boxes> boxes() const { return marks_ ? marks_->find(name_) : std::nullopt; }
  void set(Marks::Boxes boxes, PanelContext& context);
  void click(ImVec2 point, PanelContext& context);
  void draw_picture_controls(PanelContext& context);
  void draw_set();
  void use_folder(std::string folder);
  void draw_training(PanelContext& context);
  void draw_negatives();
  void start(PanelContext& context);
  void follow_training(PanelContext& context);
  void end_training(const OwnProcess::End& end, PanelContext& context);

  bool is_marking_ = false;
  std::string folder_;  // of the marks; empty: a new one
  std::optional<Marks> marks_;
  bool is_refused_ = false;   // the folder could not be read, which has been said
  FileDialog folder_dialog_;  // for another one
  std::uint64_t named_ = 0;   // CapturedFrame::posted of the picture of this name
  std::string name_;
  std::size_t features_ = 0;  // of feature_sets
  std::string negatives_;     // a folder
  FileDialog dialog_;         // for it
  std::optional<OwnProcess> training_;
  std::string detector_;  // the cascade that is trained
  std::string chosen_;    // the one of these that detects
};

// ---- marks

void MarkingPanel::begin(PanelContext& context) {
  follow_training(context);
  const CapturedFrame& frame = context.result.frame;
  const bool marks_here = is_marking_ && has_picture(context) && context.result.view_is_frame;
  context.view.draw_boxes(marks_here);
  if (marks_here && (name_.empty() || named_ != frame.posted)) {
    named_ = frame.posted;
    name_ = Marks::name_of(frame.picture.pixels);
  }
}

void MarkingPanel::toggle(PanelContext& context) {
  is_marking_ = !is_marking_;
  if (!is_marking_) return;
  is_refused_ = false;  // try again
  context.wishes.pause = true;
  if (!folder_.empty()) open_marks(context);  // the panel may be closed
}

// Those of the folder, or of a new one. Returns false, and says why once, if it cannot be used.
bool MarkingPanel::open_marks(PanelContext& context) {
  if (marks_) return true;
  if (is_refused_) return false;
  try {
    if (folder_.empty()) {
      folder_ = fs::absolute(make_dated_folder(context.saving.folder(), "objects")).string();
      context.toasts.say_saved(folder_);
    }
    marks_.emplace(folder_);
  } catch (const Error& error) {
    is_refused_ = true;
    context.toasts.warn(error.what());
  }
  return marks_.has_value();
}

void MarkingPanel::set(Marks::Boxes boxes, PanelContext& context) {
  if (!open_marks(context)) return;
  context.saving.attempt([&] {
    marks_->set(name_, context.result.frame.picture.pixels, std::move(boxes));
    return "";
  });
}

// Takes a mark away, or adds what is found there.
void MarkingPanel::click(ImVec2 point, PanelContext& context) {
  Marks::Boxes now = boxes().value_or(Marks::Boxes());
  const auto marked =
      std::ranges::find_if(now, [&](const Rect& box) { return contains(box, point); });
  if (marked != now.end()) {
    now.erase(marked);
    return set(std::move(now), context);
  }
  const auto found = face_at(point, context.result.faces);
  if (!found) return;
  now.push_back(context.result.faces[*found].box);
  set(std::move(now), context);
}

void MarkingPanel::draw_over(PanelContext& context) {
  const PictureView& view = context.view;
  if (!view.draws_boxes()) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto draw_box = [&](const Rect& box) {  // white on black, as nothing else is
    const ImVec2 first = view.at(box.x, box.y),
                 last = view.at(box.x + box.width, box.y + box.height);
    list.AddRect(first, last, IM_COL32_BLACK, 0, 0, 6);
    list.AddRect(first, last, IM_COL32_WHITE, 0, 0, 3);
  };
  if (const auto marked = boxes()) std::ranges::for_each(*marked, draw_box);
  if (const auto box = view.marking()) draw_box(*box);
  const auto box = view.marked();
  if (!box) return;
  constexpr int least = 5;  // smaller ones are clicks with an unsteady hand
  if (box->width >= least && box->height >= least) {
    Marks::Boxes now = boxes().value_or(Marks::Boxes());
    now.push_back(*box);
    set(std::move(now), context);
  } else if (view.pointed()) {
    click(*view.pointed(), context);
  }
}

bool MarkingPanel::handle_key(const Screen::Press& press, PanelContext& context) {
  if (press.ctrl || press.key != 'B') return false;
  toggle(context);
  context.toasts.say(is_marking_ ? "drag a box around each object; a click takes a box away, or "
                                   "adds what is found; Shift+drag moves the picture"
                                 : "objects are no longer marked");
  return true;
}

// ---- the panel

void MarkingPanel::draw(PanelContext& context) {
  if (!folder_.empty()) open_marks(context);
  bool marks_now = is_marking_;
  if (ImGui::Checkbox("mark objects", &marks_now)) toggle(context);
  tooltip(
      "Drag a box around each object of the kind that is to be found. A click into a box takes it "
      "away; on what was found, it makes a box of it. Shift+drag moves the picture. Key: B");
  draw_picture_controls(context);
  draw_set();
  ImGui::Separator();
  draw_training(context);
}

void MarkingPanel::draw_picture_controls(PanelContext& context) {
  const bool is_usable = context.view.draws_boxes();
  const std::optional<Marks::Boxes> now = is_usable ? boxes() : std::nullopt;
  draw_status(!is_usable     ? "marking is off"
              : !now         ? "this picture is not marked"
              : now->empty() ? "this picture is marked as having none"
                             : fmt::format("{} in this picture", plural(now->size(), "object")),
              "Of the picture or frame that is shown");
  ImGui::BeginDisabled(!is_usable || context.result.faces.empty());
  if (ImGui::Button("take what is found") && is_usable) {
    Marks::Boxes all = now.value_or(Marks::Boxes());
    for (const Face& face : context.result.faces)
      if (std::ranges::none_of(all, [&](const Rect& box) { return are_alike(box, face.box); }))
        all.push_back(face.box);
    set(std::move(all), context);
  }
  ImGui::EndDisabled();
  tooltip("Makes a box of everything that was found here. Take away what is none with a click");
  ImGui::SameLine();
  const bool is_empty = now && now->empty();
  ImGui::BeginDisabled(!is_usable);
  if (ImGui::Button(is_empty ? "not marked###none" : "none here###none") && is_usable) {
    if (is_empty)
      context.saving.attempt([&] {
        marks_->remove(name_);
        return "";
      });
    else
      set({}, context);
  }
  ImGui::EndDisabled();
  tooltip(is_empty ? "Forgets this picture"
                   : "This picture has no such object: what is found here is a false alarm, from "
                     "which the detector learns");
}

void MarkingPanel::draw_set() {
  const std::size_t objects = marks_ ? marks_->objects() : 0,
                    pictures = marks_ ? marks_->pictures() : 0;
  draw_status(fmt::format("{} in {}", plural(objects, "object"), plural(pictures, "picture")),
              folder_.empty() ? "Pictures and boxes are saved at once, in a new folder"
                              : "Saved at once, in " + folder_);
  if (const auto chosen = folder_dialog_.take(); chosen && !training_) use_folder(chosen->front());
  ImGui::BeginDisabled(training_.has_value());
  if (!folder_.empty()) {
    if (ImGui::Button("begin another set") && !training_) use_folder("");
    tooltip("What is marked from now on is for another kind of object. The folder stays");
    ImGui::SameLine();
  }
  if (folder_dialog_.is_available()) {
    if (ImGui::Button("open a set...") && !training_) folder_dialog_.open(Choosing::folder);
    tooltip("Go on with what was marked before, in a folder that facesat made");
  } else {
    ImGui::NewLine();
  }
  ImGui::EndDisabled();
}

void MarkingPanel::use_folder(std::string folder) {
  folder_ = std::move(folder);
  marks_.reset();
  is_refused_ = false;
}

// ---- training

void MarkingPanel::draw_training(PanelContext& context) {
  ImGui::BeginDisabled(training_.has_value());
  if (const auto chosen = choose("features", feature_sets[features_].name,
                                 "What the detector looks at", feature_sets, features_))
    features_ = *chosen;
  draw_negatives();
  ImGui::EndDisabled();
  if (training_) {
    if (ImGui::Button("stop")) training_->stop();
    tooltip("Ends the training; the stages so far stay");
    ImGui::SameLine();
    ImGui::TextWrapped("%s", training_->line().c_str());
    return;
  }
  const bool has_enough = marks_ && marks_->objects() >= least_objects;
  ImGui::BeginDisabled(!has_enough);
  if (ImGui::Button("train") && has_enough) start(context);
  ImGui::EndDisabled();
  tooltip(has_enough ? "Trains a detector for the marked objects, which is used as soon as it has "
                       "its first stage; the panel \"Training\" shows it. 'facesat train' has more "
                       "options"
                     : fmt::format("At least {} objects must be marked; a hundred, from various "
                                   "pictures, are better",
                                   least_objects));
}

void MarkingPanel::draw_negatives() {
  if (const auto chosen = dialog_.take()) negatives_ = chosen->front();
  ImGui::InputTextWithHint("pictures without", "no other pictures", &negatives_);
  tooltip(
      "A folder of pictures without the object, the more the better: the detector learns from "
      "them what is none, besides from what is not marked in the marked pictures");
  if (!dialog_.is_available()) return;
  ImGui::SameLine();
  if (ImGui::Button("...")) dialog_.open(Choosing::folder);
  tooltip("Choose the folder");
}

void MarkingPanel::start(PanelContext& context) {
  // Hand-drawn boxes are few, and not as exact as windows: varied copies make up for both.
  constexpr std::size_t wanted = 2000;
  const std::size_t copies = std::clamp<std::size_t>(wanted / (2 * marks_->objects()), 1, 100);
  const Size window = marks_->window();
  const std::string annotations = marks_->annotations().string();
  std::vector<std::string> arguments{"train",
                                     annotations,
                                     "--negatives=" + annotations,
                                     fmt::format("--window={}x{}", window.width, window.height),
                                     "--aspect=keep",
                                     "--features=" + feature_sets[features_].name,
                                     "--mirror",
                                     fmt::format("--copies={}", copies),
                                     "--shift=0.04",
                                     "--scale=0.06",
                                     "--turn=4",
                                     "--brightness=20",
                                     "--contrast=0.2"};
  if (!negatives_.empty()) {
    arguments.push_back("--negatives=" + with_home(negatives_));
    arguments.emplace_back("--recursive");
  }
  detector_ = new_detector(marks_->folder());
  arguments.push_back("--output=" + detector_);
  context.saving.attempt([&] {
    training_.emplace(context.machine.program, std::move(arguments));
    return "";
  });
}

void MarkingPanel::follow_training(PanelContext& context) {
  if (!training_) return;
  if (detector_ != chosen_ && has_contents(detector_)) {
    LiveSettings& settings = context.choices.settings;
    if (!chosen_.empty() && settings.has(chosen_)) settings.unchoose(chosen_);
    chosen_ = detector_;
    settings.choose(chosen_);
    context.wishes.settings = true;
  }
  if (const auto end = training_->take_end()) {
    training_.reset();
    end_training(*end, context);
  }
}

void MarkingPanel::end_training(const OwnProcess::End& end, PanelContext& context) {
  constexpr int some_unusable = 1;  // as `facesat train` ends if all else went well
  const bool has_stages = has_contents(detector_);
  if (has_stages) context.toasts.say_saved(detector_);
  if (end.was_stopped)
    context.toasts.say(has_stages ? "the training was stopped; it has the stages so far"
                                  : "the training was stopped before its first stage");
  else if (end.status == some_unusable && has_stages)
    context.toasts.say("some pictures could not be used: " + detector_ + ".training/log.jsonl");
  else if (!end.problem.empty())
    context.toasts.warn(end.problem);
}

// ---- settings

void MarkingPanel::remember(const Remembered&, nlohmann::ordered_json& file) const {
  file["marks"] = {
      {"folder", folder_}, {"negatives", negatives_}, {"features", feature_sets[features_].name}};
}

void MarkingPanel::recall(const nlohmann::ordered_json& file, Remembered&) {
  if (!file.contains("marks")) return;
  const nlohmann::ordered_json& marks = file.at("marks");
  folder_ = marks.value("folder", "");
  negatives_ = marks.value("negatives", "");
  const auto known = std::ranges::find(feature_sets, marks.value("features", ""), &Entry::name);
  features_ =
      known == feature_sets.end() ? 0 : static_cast<std::size_t>(known - feature_sets.begin());
}

}  // namespace

std::unique_ptr<Panel> make_marking_panel() {
  return std::make_unique<MarkingPanel>();
}

}  // namespace facesat::app

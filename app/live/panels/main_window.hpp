// What the window shows: panels on the left, the picture with its boxes, and the bar below it; and
// what its keys do.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/live/detection/detection.hpp"
#include "app/live/panels/grid.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/pinned.hpp"
#include "app/live/panels/start_page.hpp"
#include "app/live/panels/window_parts.hpp"

namespace facesat::app {

// The parts of the program that the window shows and controls.
struct Controlled {
  Screen& screen;
  Detection& detection;
  Capture& capture;
  Saving& saving;
  Toasts& toasts;
};

// The settings before each of the user's last changes.
class SettingsHistory {
 public:
  // To be called with the settings as they are now. What is shown, what is measured, and the SAT
  // algorithm do not count; changes in quick succession, as of a slider that is dragged, are one.
  void note(const LiveSettings& now);
  // Returns the settings before the last change, and forgets it; nullopt: there was none.
  std::optional<LiveSettings> undo();

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<LiveSettings> now_;
  std::vector<LiveSettings> before_;  // each of the last changes
  Clock::time_point changed_;
};

class MainWindow {
 public:
  MainWindow(const Controlled& controlled, const Remembered& remembered, Panels panels,
             const CameraMode& camera);

  // Shows this result from now on.
  void show(LiveResult result);
  const LiveResult& shown() const { return result_; }
  // If the source that is open now cannot be read, nothing of the one before stays: shows nothing
  // but the reason, and returns true.
  bool drop_what_is_gone();
  // To be called when the history of the results shown has grown.
  void measured(const History& history);

  // One frame of the user interface, and what the keys pressed since the last one do. `history`: of
  // the results shown.
  void draw(const History& history);
  // The same without the keys.
  void draw_contents(const History& history);
  // Was a screenshot of the frame drawn last requested?
  bool wants_screenshot() const { return wants_screenshot_; }

  Remembered choices() const;
  const Panels& panels() const { return panels_; }

 private:
  PanelContext context_of(const History& history, const Capture::State& state,
                          const Comparison* comparison);
  void draw_contents(PanelContext& context);
  void draw_side(PanelContext& context, Panel::Side side);
  bool is_wanted(const PanelContext& context, Panel::Side side) const;
  void draw_splitter();
  void draw_main(PanelContext& context);
  void draw_picture(PanelContext& context);
  void draw_grid(const Capture::State& state);
  void draw_faces();
  void draw_start_page(const Capture::State& state);
  void carry_out(PanelContext& context);
  void follow(const PointedFace& user);
  void show_again(double position, const History& history);
  void note_source(const Capture::State& state);
  void handle_key(const Screen::Press& press, PanelContext& context);
  bool close_front();
  void use(Tool tool);
  void undo();
  void handle_own_key(int key);
  void handle_own_ctrl_key(int key);

  Controlled parts_;
  Remembered choices_;
  SettingsHistory settings_history_;
  CameraMode camera_;
  LiveResult result_;
  PictureView view_;
  PinnedResult pinned_;
  FaceMarks video_marks_, list_marks_;
  const Machine machine_;
  const Panels panels_;
  StartPage start_page_;
  Grid grid_;
  // The face under the pointer, in the picture, the strip or the table: in the frame of the user
  // interface that was drawn last, and in the one that is being drawn.
  std::optional<std::size_t> highlighted_, pointed_;
  std::uint64_t lists_ = 0;  // opened so far
  std::string refused_;      // why the last source was not
  bool opens_ = false;       // the start page is shown, although there is a source
  bool shows_grid_ = false;  // in place of the picture
  bool help_ = false, hides_panels_ = false, wants_screenshot_ = false;
};

}  // namespace facesat::app

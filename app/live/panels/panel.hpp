// The contract of the panels beside the picture. A panel is one file and one line of panels.def;
// the window draws them in that order, each under its title: most at the left of the picture, and
// what explains it at the right.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/live/detection/comparison.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/frames/capture.hpp"
#include "app/live/gui/picture_view.hpp"
#include "app/live/gui/screen.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/sat_parts.hpp"
#include "app/live/saving.hpp"
#include "app/live/settings_file.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/device/gpu_info.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::app {

// What can be chosen on this machine.
struct Machine {
  std::vector<DeviceInfo> devices = gpu::devices();
  std::vector<SatFacts> sats = facts_of(gpu::sat_algorithms());  // on devices
  std::vector<std::string> cascades = cascade_names();
  std::string program = "/proc/self/exe";  // facesat itself, for work in a process of its own
};

// What panels ask of the window, which does it once all are drawn.
struct Wishes {
  bool settings = false;         // Remembered::settings have changed
  bool cascades = false;         // read the files of cascades anew
  bool comparison = false;       // compare the SAT algorithms on the frame
  bool list_comparison = false;  // or on the pictures of the list
  bool start_page = false;       // show it
  bool pause = false;            // stop playing
  std::optional<double> seek;    // pause at this position of the video, see Sample::position
  std::optional<std::vector<std::string>> open;  // these sources
  std::optional<std::size_t> pointed_face;       // the face under the pointer stands out
  std::optional<std::size_t> clicked_face;       // zoom to it
  std::optional<Rect> followed;                  // what is in this box; without a width: nothing
};

// What panels see of the window, for one frame of the user interface. All is borrowed.
struct PanelContext {
  const LiveResult& result;      // that is shown
  const History& history;        // of results like that
  const Capture::State& source;  // what is open
  const Comparison* comparison;  // of SAT algorithms, the last one; null: none yet
  std::uint64_t dropped;         // frames that were replaced by newer ones
  const Machine& machine;
  std::optional<std::size_t> highlighted;  // the index of a face that stands out
  std::chrono::steady_clock::time_point now;

  Remembered& choices;  // the user's
  CameraMode& camera;   // for cameras that are opened
  PictureView& view;
  Saving& saving;
  Toasts& toasts;
  Wishes wishes;
};

// Not for use by several threads at once.
class Panel {
 public:
  enum class Side : std::uint8_t { left, right };  // of the picture

  explicit Panel(const char* title, bool is_open_at_first = true, Side side = Side::left)
      : title_(title), is_open_at_first_(is_open_at_first), side_(side) {}
  virtual ~Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;

  const char* title() const { return title_; }
  bool is_open_at_first() const { return is_open_at_first_; }
  Side side() const { return side_; }

  // Is there something to show? If not, the panel is left out.
  virtual bool is_wanted(const PanelContext&) const { return true; }

  // Draws the panel with Dear ImGui, below its title, while it is open.
  virtual void draw(PanelContext& context) = 0;

  // The others are called even while the panel is closed.
  // Before all panels are drawn.
  virtual void begin(PanelContext&) {}
  // Draws over the picture, which was drawn last, and follows the pointer there.
  virtual void draw_over(PanelContext&) {}
  // Returns whether the key is one of this panel's.
  virtual bool handle_key(const Screen::Press&, PanelContext&) { return false; }
  // When the history of results like the one that is shown has grown.
  virtual void note_times(const History&, const LiveResult&) {}

  // Writes into the file of settings what this panel remembers: those of the user's choices that
  // belong to it, and what it has of its own. recall() reads that again, before there is a window;
  // entries may be missing, in files of earlier versions. It throws nlohmann::json::exception or
  // Error for what it cannot use.
  virtual void remember(const Remembered&, nlohmann::ordered_json&) const {}
  virtual void recall(const nlohmann::ordered_json&, Remembered&) {}

 private:
  const char* title_;
  bool is_open_at_first_;
  Side side_;
};

// All panels, in the order of panels.def.
Panels make_panels();

// make_source_panel() and so on: one function for each line, defined in the panel's file.
#define FACESAT_PANEL(name) std::unique_ptr<Panel> make_##name##_panel();
#include "app/live/panels/panels.def"
#undef FACESAT_PANEL

}  // namespace facesat::app

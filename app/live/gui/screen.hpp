// The window: GLFW, an OpenGL 3.3 context and Dear ImGui. To be used only by the thread that
// created it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/live/gui/user_input.hpp"
#include "core/image.hpp"

struct GLFWwindow;

namespace facesat::app {

class Screen {
 public:
  // `place`: in screen coordinates; a width of 0 leaves size and place to the system, as does a
  // place that is on no monitor. Throws UsageError if no window can be opened.
  Screen(const std::string& title, const Rect& place, bool vsync);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Calls contents() for one frame of the user interface and renders it. With `may_wait`, first
  // waits for user input or wake(), but at most half a second.
  void draw(const std::function<void()>& contents, bool may_wait);
  bool is_closed() const;
  // Signals that there is something new to draw. May be called from any thread.
  static void wake();
  // Presents the frame that was drawn.
  void show();

  bool is_minimised() const;
  float scale() const { return scale_; }  // of the display; above 1 for high resolutions
  void set_dark(bool dark);               // the theme, for what is drawn from now on
  // The height of the font in pixels, on a display of scale 1; takes effect with the next frame.
  static constexpr int smallest_font = 10, usual_font = 16, largest_font = 40;
  void set_font_size(int pixels);
  int font_size() const { return wanted_font_size_; }
  void set_title(const std::string& title);
  void close();
  void toggle_fullscreen();
  Rect place() const;  // of the window; while it fills the screen, the place it had before
  // Files dropped onto the window since the last call.
  std::vector<std::string> dropped() { return input_->dropped(); }
  // Keys pressed since the last call, however briefly. Letters (as capitals) and digits are those
  // of the user's keyboard layout and have their character code, as space has; other keys have the
  // numbers of GLFW.
  enum Key {
    escape = 256,
    tab = 258,
    delete_key = 261,
    right_arrow = 262,
    left_arrow = 263,
    page_up = 266,
    page_down = 267,
    f11 = 300,
    keypad_minus = 333,
    keypad_plus = 334
  };
  using Press = UserInput::Press;
  std::vector<Press> pressed() { return input_->pressed(); }
  // The pixels of the frame drawn last; to be called before show().
  Image<Bgr> pixels() const;

 private:
  void take_events(bool may_wait);
  void change_font_size();

  GLFWwindow* window_ = nullptr;
  Rect windowed_;  // place and size before fullscreen, in screen coordinates
  std::string title_;
  float scale_ = 1;
  std::optional<bool> dark_;
  int font_size_ = usual_font, wanted_font_size_ = usual_font;
  std::optional<UserInput> input_;
  int settling_ = 0;  // frames that are still to be drawn before the user interface has settled
};

// Sets the colours, rounding and spacing of the user interface. `scale` is that of the display:
// above 1 for high resolutions.
void apply_theme(bool dark, float scale);

// Replaces the fonts of Dear ImGui's atlas by one of `pixels` height with Latin, Greek and Cyrillic
// letters and, where a font that has them is installed, Chinese, Japanese and Korean ones. Without
// any of the known fonts, the one that is built into Dear ImGui, which has ASCII alone. The texture
// of the atlas must be made again afterwards.
void load_fonts(float pixels);

// The end of the X server while the program runs, as when a session or a remote connection ends.
// As long as this object exists, and after GLFW was initialised, the loss of the connection to the
// X server calls `act`, which must not use the window, and then ends the program with status 3.
// Xlib would end it at once, without a word. At most one such object may exist.
class DisplayLoss {
 public:
  explicit DisplayLoss(std::function<void()> act);
  ~DisplayLoss();
  DisplayLoss(const DisplayLoss&) = delete;
  DisplayLoss& operator=(const DisplayLoss&) = delete;
};

}  // namespace facesat::app

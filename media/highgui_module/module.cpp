#include "media/opencv_module/module.hpp"

#include <algorithm>

#include <X11/Xlib.h>  // its macros are words that other headers use
#include <opencv2/highgui.hpp>
#include <opencv2/highgui/highgui_c.h>

#include "media/highgui.hpp"

namespace facesat::module {
namespace {

constexpr const char* name = "facesat";  // of the window, for OpenCV

void connect() {
  cvInitSystem(0, nullptr);
}

Size screen_size() {
  ::Display* const display = XOpenDisplay(nullptr);
  if (!display) return {1280, 720};  // unknown: there is no X server
  const int screen = XDefaultScreen(display);
  const Size size{XDisplayWidth(display, screen), XDisplayHeight(display, screen)};
  XCloseDisplay(display);
  return size;
}

// The size at which a picture is shown: its own, or what fits on the screen.
Size shown_size(Size picture, Size screen) {
  constexpr double usable = 0.9;  // the rest is for the window's frame and the desktop's panels
  const double scale = std::min(
      {1.0, usable * screen.width / picture.width, usable * screen.height / picture.height});
  const auto scaled = [scale](int length) { return std::max(1, static_cast<int>(scale * length)); };
  return {scaled(picture.width), scaled(picture.height)};
}

class HighGuiWindow final : public PictureWindow {
 public:
  HighGuiWindow() { connect(); }
  ~HighGuiWindow() override {
    try {
      cv::destroyAllWindows();
    } catch (...) {  // destructors do not throw
    }
  }
  HighGuiWindow(const HighGuiWindow&) = delete;
  HighGuiWindow& operator=(const HighGuiWindow&) = delete;

  void show(View<const Bgr> picture, const std::string& title) override {
    cv::namedWindow(name, cv::WINDOW_NORMAL | cv::WINDOW_KEEPRATIO | cv::WINDOW_GUI_NORMAL);
    if (picture.size != size_) {  // otherwise the size that the user gave the window stays
      const Size shown = shown_size(picture.size, screen_);
      cv::resizeWindow(name, shown.width, shown.height);
      size_ = picture.size;
    }
    cv::setWindowTitle(name, title);
    cv::imshow(name, to_mat(picture));
  }

  Answer wait(int milliseconds) override {
    if (size_ == Size()) return Answer::none;              // there is no window yet
    const int key = cv::waitKeyEx(milliseconds) & 0xFFFF;  // without modifiers
    if (is_closed()) return Answer::end;
    switch (key) {
      case ' ':
      case 'n':
      case 'N':
      case '\r':
      case '\n':
      case 0xFF53:  // Right, as X11 numbers keys
        return Answer::next;
      case 'q':
      case 'Q':
      case 27:  // Esc
        return Answer::end;
      default:
        return Answer::none;
    }
  }

 private:
  // No single property tells with both toolkits: GTK always has -1 for the first one.
  static bool is_closed() {
    return cv::getWindowProperty(name, cv::WND_PROP_VISIBLE) == 0 ||
           cv::getWindowProperty(name, cv::WND_PROP_AUTOSIZE) < 0;
  }

  Size screen_ = screen_size(), size_;  // size_: of the last picture
};

std::unique_ptr<PictureWindow> make_window() {
  return std::make_unique<HighGuiWindow>();
}

}  // namespace

// The symbol that highgui() looks for.
extern "C" const HighGui facesat_highgui;
const HighGui facesat_highgui{connect, make_window};

}  // namespace facesat::module

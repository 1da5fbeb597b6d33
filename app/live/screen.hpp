// The window: GLFW, an OpenGL 3.3 context and Dear ImGui, for the thread that made it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/image.hpp"

struct GLFWwindow;

namespace facesat::app {

class Screen {
 public:
  // Throws UsageError where no window can be had.
  Screen(const std::string& title, Size size, bool vsync);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Calls contents() for one frame of the user interface and renders it. If it `may_wait`, it does
  // so until there is something new: the user's doing, wake(), or a quarter of a second.
  void draw(const std::function<void()>& contents, bool may_wait);
  bool is_closed() const;
  // There is something new to draw. For any thread.
  static void wake();
  // Shows what was drawn.
  void show();

  bool is_minimised() const;
  float scale() const { return scale_; }  // of high resolution displays
  void set_dark(bool dark);
  void close();
  // Files dropped onto the window since the last call.
  std::vector<std::string> dropped();
  // Keys pressed since the last call, however shortly: capital letters, digits and space by their
  // character, others as GLFW numbers them.
  enum Key { right_arrow = 262, left_arrow = 263 };
  std::vector<int> pressed();
  // What was drawn last, before it is shown.
  Image<Bgr> pixels() const;

 private:
  void take_events(bool may_wait);

  GLFWwindow* window_ = nullptr;
  float scale_ = 1;
  std::vector<std::string> dropped_;
  std::vector<int> pressed_;
  int settling_ = 0;  // frames to draw before it is still
};

}  // namespace facesat::app

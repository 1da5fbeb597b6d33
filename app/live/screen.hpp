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

  // Calls contents() for one frame of the user interface and renders it. False: the window is
  // closed.
  bool draw(const std::function<void()>& contents);
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
  GLFWwindow* window_ = nullptr;
  float scale_ = 1;
  std::vector<std::string> dropped_;
  std::vector<int> pressed_;
};

}  // namespace facesat::app

// What the user does with keys, mouse and files, in its order. To be used only by the thread of the
// window.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

struct GLFWwindow;

namespace facesat::app {

class UserInput {
 public:
  // Takes the place of the callbacks that Dear ImGui's backend has installed, and uses the window's
  // user pointer. The object must live as long as the window handles events.
  explicit UserInput(GLFWwindow* window);
  UserInput(const UserInput&) = delete;
  UserInput& operator=(const UserInput&) = delete;

  // Gives Dear ImGui what its next frame is to see: to be called after the backend's NewFrame() and
  // before ImGui::NewFrame(). True: something has to wait for the frame after it.
  bool feed();

  // A key as Screen::Key or, for letters (as capitals) and digits, the character it has.
  struct Press {
    int key;
    bool ctrl;
  };
  std::vector<Press> pressed() { return std::exchange(pressed_, {}); }  // since the last call
  std::vector<std::string> dropped() { return std::exchange(dropped_, {}); }

 private:
  struct Event {
    enum Kind { movement, wheel, button, key, character } kind;
    std::function<void()> feed;
    int code = 0, action = 0, mods = 0;  // of GLFW, for buttons and keys
  };
  struct Frame;

  static UserInput& of(GLFWwindow* window);
  void feed_key(int key, int scancode, int action, int mods);
  void feed_movement(double x, double y);
  void feed_button(int button, int action, int mods);
  void update_mouse(bool has_events);

  GLFWwindow* window_;
  std::deque<Event> events_;  // that Dear ImGui has not got yet
  bool had_press_ = false;    // of a key, in the last frame
  std::vector<Press> pressed_;
  std::vector<std::string> dropped_;
  // The mouse as it was fed last.
  ImVec2 pointer_;
  std::array<bool, 3> held_{};
};

}  // namespace facesat::app

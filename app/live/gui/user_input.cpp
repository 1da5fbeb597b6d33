#include "app/live/gui/user_input.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include <GLFW/glfw3.h>
#include <imgui_impl_glfw.h>

namespace facesat::app {
namespace {

// GLFW numbers keys by their position on a US keyboard; its name for a key is that of the layout.
// Digits stay positions: some layouts need Shift for them.
int key_in_layout(int key, int scancode) {
  const char* const name = glfwGetKeyName(key, scancode);
  if (!name || name[0] == 0) return key;
  if (name[1] == 0 && (name[0] == '+' || name[0] == '-')) return name[0];
  if (name[1] != 0 || !std::isalpha(static_cast<unsigned char>(name[0]))) return key;
  return std::toupper(static_cast<unsigned char>(name[0]));
}

bool is_press(int action, int mods) {
  constexpr int others = GLFW_MOD_ALT | GLFW_MOD_SUPER;  // shortcuts of the desktop
  return action != GLFW_RELEASE && (mods & others) == 0;
}

}  // namespace

// What one frame has got so far. Dear ImGui draws a frame for one state of keys, buttons and
// pointer: it would miss a key that is pressed and released within a frame, take a drag within one
// for a click, and turn the wheel where the pointer is at the end. So a frame gets movements, then
// the wheel, then buttons, or movements, then keys. What does not fit waits for the next frame,
// with all that comes after it.
struct UserInput::Frame {
  bool had_press;  // of a key, in the frame before
  std::optional<Event::Kind> last = {};
  bool has_movement = false, has_press = false;
  std::array<bool, 3> buttons{};
  std::vector<int> controls = {};  // keys that type nothing

  bool must_wait(const Event& event) const {
    const bool has_mouse = last == Event::wheel || last == Event::button;
    const bool is_late = last && *last > event.kind;
    switch (event.kind) {
      case Event::movement:
        return is_late;
      case Event::wheel:  // what a shortcut opens is drawn a frame later, and in reach after that
        return is_late || had_press;
      case Event::button:
        return is_late || had_press || buttons[event.code] ||
               (event.action == GLFW_RELEASE && has_movement);
      case Event::key:
        return has_mouse ||
               std::find(controls.begin(), controls.end(), event.code) != controls.end();
      case Event::character:  // a text field takes those of a frame before its keys
        return has_mouse || !controls.empty();
    }
    return false;
  }

  void add(const Event& event) {
    last = event.kind;
    has_movement |= event.kind == Event::movement;
    if (event.kind == Event::button) buttons[event.code] = true;
    if (event.kind != Event::key) return;
    has_press |= is_press(event.action, event.mods);
    const bool is_control = event.code > 255 || (event.mods & GLFW_MOD_CONTROL) != 0;
    if (is_control && event.action != GLFW_REPEAT) controls.push_back(event.code);
  }
};

bool UserInput::feed() {
  bool has_mouse = false;
  Frame frame{had_press_};
  for (; !events_.empty() && !frame.must_wait(events_.front()); events_.pop_front()) {
    const Event& event = events_.front();
    event.feed();
    frame.add(event);
    has_mouse |= event.kind <= Event::button;
  }
  had_press_ = frame.has_press;
  update_mouse(has_mouse || !events_.empty());
  return !events_.empty();
}

UserInput& UserInput::of(GLFWwindow* window) {
  return *static_cast<UserInput*>(glfwGetWindowUserPointer(window));
}

UserInput::UserInput(GLFWwindow* window) : window_(window) {
  glfwSetWindowUserPointer(window, this);
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    UserInput& input = of(w);
    input.dropped_.insert(input.dropped_.end(), paths, paths + count);
  });
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
    UserInput& input = of(w);
    const auto feed = [=, &input] { input.feed_key(key, scancode, action, mods); };
    input.events_.push_back({Event::key, feed, key, action, mods});
  });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned character) {
    const auto feed = [=] { ImGui_ImplGlfw_CharCallback(w, character); };
    of(w).events_.push_back({Event::character, feed});
  });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int is_inside) {
    const auto feed = [=] { ImGui_ImplGlfw_CursorEnterCallback(w, is_inside); };
    of(w).events_.push_back({Event::movement, feed});
  });
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) {
    UserInput& input = of(w);
    input.events_.push_back({Event::movement, [=, &input] { input.feed_movement(x, y); }});
  });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double x, double y) {
    const auto feed = [=] { ImGui_ImplGlfw_ScrollCallback(w, x, y); };
    of(w).events_.push_back({Event::wheel, feed});
  });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int mods) {
    UserInput& input = of(w);
    if (button >= static_cast<int>(input.held_.size())) return;
    const auto feed = [=, &input] { input.feed_button(button, action, mods); };
    input.events_.push_back({Event::button, feed, button, action, mods});
  });
}

void UserInput::feed_key(int key, int scancode, int action, int mods) {
  if (is_press(action, mods))
    pressed_.push_back({key_in_layout(key, scancode), (mods & GLFW_MOD_CONTROL) != 0});
  ImGui_ImplGlfw_KeyCallback(window_, key, scancode, action, mods);
}

// Before version 1.87 Dear ImGui's backend asks GLFW, before each frame, where the mouse is and
// which buttons are down; later ones go by events.
#if IMGUI_VERSION_NUM < 18700

void UserInput::feed_movement(double x, double y) {
  pointer_ = {static_cast<float>(x), static_cast<float>(y)};
}

void UserInput::feed_button(int button, int action, int /*mods*/) {
  held_[button] = action == GLFW_PRESS;
}

void UserInput::update_mouse(bool has_events) {
  ImGuiIO& io = ImGui::GetIO();
  if (has_events)
    io.MousePos = pointer_;
  else if (ImGui::IsMousePosValid())  // the window may have moved under the pointer
    pointer_ = io.MousePos;
  std::copy(held_.begin(), held_.end(), io.MouseDown);
}

#else

void UserInput::feed_movement(double x, double y) {
  ImGui_ImplGlfw_CursorPosCallback(window_, x, y);
}

void UserInput::feed_button(int button, int action, int mods) {
  ImGui_ImplGlfw_MouseButtonCallback(window_, button, action, mods);
}

void UserInput::update_mouse(bool /*has_events*/) {}

#endif

}  // namespace facesat::app

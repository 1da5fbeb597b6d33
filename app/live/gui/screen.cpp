#include "app/live/gui/screen.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <utility>

#include <glad/gl.h>
// glad first: it replaces the system's OpenGL header.
#include <GLFW/glfw3.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include "support/errors.hpp"

namespace facesat::app {
namespace {

static_assert(Screen::tab == GLFW_KEY_TAB && Screen::delete_key == GLFW_KEY_DELETE &&
              Screen::f11 == GLFW_KEY_F11 && Screen::escape == GLFW_KEY_ESCAPE &&
              Screen::page_up == GLFW_KEY_PAGE_UP && Screen::page_down == GLFW_KEY_PAGE_DOWN);
static_assert(Screen::right_arrow == GLFW_KEY_RIGHT && Screen::left_arrow == GLFW_KEY_LEFT &&
              Screen::keypad_plus == GLFW_KEY_KP_ADD &&
              Screen::keypad_minus == GLFW_KEY_KP_SUBTRACT);

std::string glfw_reason() {
  const char* reason = nullptr;
  glfwGetError(&reason);
  return reason ? reason : "no reason given";
}

// GLFW numbers keys by their position on a US keyboard; its name for a key is that of the layout.
// Digits stay positions: some layouts need Shift for them.
int key_in_layout(int key, int scancode) {
  const char* const name = glfwGetKeyName(key, scancode);
  if (!name || name[0] == 0) return key;
  if (name[1] == 0 && (name[0] == '+' || name[0] == '-')) return name[0];
  if (name[1] != 0 || !std::isalpha(static_cast<unsigned char>(name[0]))) return key;
  return std::toupper(static_cast<unsigned char>(name[0]));
}

// Is there a window? Threads may call wake() before and after that.
std::atomic<bool> is_screen_open = false;

// Reports that there can be no window.
[[noreturn]] void refuse(const std::string& what) {
  const std::string reason = glfw_reason();
  glfwTerminate();
  throw UsageError(fmt::format(
      "{} ({}): 'facesat detect' finds faces without a window, 'facesat bench' measures", what,
      reason));
}

// Is this point on a monitor?
bool is_visible(int x, int y) {
  int count = 0;
  GLFWmonitor** const monitors = glfwGetMonitors(&count);
  return std::any_of(monitors, monitors + count, [x, y](GLFWmonitor* monitor) {
    Rect area;
    glfwGetMonitorWorkarea(monitor, &area.x, &area.y, &area.width, &area.height);
    return x >= area.x && y >= area.y && x < area.x + area.width && y < area.y + area.height;
  });
}

std::function<void()> last_act;

int act_and_end(void* /*display*/) {
  if (const auto act = std::exchange(last_act, nullptr)) act();
  std::_Exit(3);  // other threads still run: nothing is destroyed
}

// XSetIOErrorHandler() of the Xlib that GLFW has loaded; null under Wayland, where there is none.
using Handler = int (*)(void* display);
using SetHandler = Handler (*)(Handler);
SetHandler find_set_handler() {
  void* const xlib = ::dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return xlib ? reinterpret_cast<SetHandler>(::dlsym(xlib, "XSetIOErrorHandler")) : nullptr;
}

}  // namespace

Screen::Screen(const std::string& title, const Rect& place, bool vsync) : title_(title) {
  if (!glfwInit()) refuse("there is no display to open a window on");
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  // Window managers give new windows the focus. Without a window manager, requesting the focus
  // would end the program if the window is unmapped at that moment.
  glfwWindowHint(GLFW_FOCUSED, GLFW_FALSE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "facesat");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "facesat");
  constexpr Size usual{1280, 800}, least{480, 360};
  const Size size = place.width == 0 ? usual
                                     : Size{std::max(place.width, least.width),
                                            std::max(place.height, least.height)};
  window_ = glfwCreateWindow(size.width, size.height, title.c_str(), nullptr, nullptr);
  if (!window_) refuse("a window with OpenGL 3.3 cannot be opened");
  glfwSetWindowSizeLimits(window_, least.width, least.height, GLFW_DONT_CARE, GLFW_DONT_CARE);
  if (place.width > 0 && is_visible(place.x + place.width / 2, place.y))
    glfwSetWindowPos(window_, place.x, place.y);
  glfwMakeContextCurrent(window_);
  if (gladLoadGL(glfwGetProcAddress) == 0) refuse("OpenGL 3.3 cannot be loaded");
  glfwSwapInterval(vsync ? 1 : 0);
  glfwSetWindowUserPointer(window_, this);
  glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** paths) {
    auto* self = static_cast<Screen*>(glfwGetWindowUserPointer(window));
    self->dropped_.insert(self->dropped_.end(), paths, paths + count);
  });

  float across = 1, down = 1;
  glfwGetWindowContentScale(window_, &across, &down);
  scale_ = across;
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // the program saves its own settings
  load_fonts(static_cast<float>(font_size_) * scale_);
  set_dark(true);
  ImGui_ImplGlfw_InitForOpenGL(window_, true);
  ImGui_ImplOpenGL3_Init("#version 330 core");
  queue_input();
  is_screen_open = true;
}

Screen::~Screen() {
  is_screen_open = false;
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void Screen::set_dark(bool dark) {
  if (dark == dark_) return;
  dark_ = dark;
  apply_theme(dark, scale_);
}

void Screen::set_font_size(int pixels) {
  wanted_font_size_ = std::clamp(pixels, smallest_font, largest_font);
}

// Between two frames of Dear ImGui, which must not see the atlas change.
void Screen::change_font_size() {
  if (wanted_font_size_ == font_size_) return;
  font_size_ = wanted_font_size_;
  load_fonts(static_cast<float>(font_size_) * scale_);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

// Handles user input, after waiting for it if that is allowed. Dear ImGui needs some frames after
// the last event to settle, during which there is no waiting.
constexpr int frames_to_settle = 4;

void Screen::take_events(bool may_wait) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseWheel != 0 || ImGui::IsAnyMouseDown())
    settling_ = frames_to_settle;
  if (is_minimised())
    return glfwWaitEventsTimeout(0.1);  // seconds; invisible, but results still arrive
  if (!may_wait || settling_-- > 0) return glfwPollEvents();
  constexpr double patience = 0.5;  // seconds
  const double begin = glfwGetTime();
  glfwWaitEventsTimeout(patience);
  settling_ = glfwGetTime() - begin < patience ? frames_to_settle : 0;
}

// The callbacks below stand in for Dear ImGui's, which gets the events from feed_input().
void Screen::queue_input() {
  glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int scancode, int action, int mods) {
    static_cast<Screen*>(glfwGetWindowUserPointer(window))
        ->input_.push_back({InputEvent::key, key, scancode, action, mods, {}});
  });
  glfwSetCharCallback(window_, [](GLFWwindow* window, unsigned character) {
    static_cast<Screen*>(glfwGetWindowUserPointer(window))
        ->input_.push_back({InputEvent::character, static_cast<int>(character), 0, 0, 0, {}});
  });
  glfwSetCursorPosCallback(window_, [](GLFWwindow* window, double x, double y) {
    auto& input = static_cast<Screen*>(glfwGetWindowUserPointer(window))->input_;
    if (input.empty() || input.back().kind != InputEvent::movement)
      input.push_back({InputEvent::movement, 0, 0, 0, 0, {}});
    input.back().pointer = {static_cast<float>(x), static_cast<float>(y)};
  });
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* window, int button, int action, int mods) {
    auto* self = static_cast<Screen*>(glfwGetWindowUserPointer(window));
    if (button < static_cast<int>(self->held_.size()))
      self->input_.push_back({InputEvent::button, button, 0, action, mods, {}});
  });
}

// Dear ImGui draws a frame for one state of keys, buttons and pointer. It would miss a key that is
// pressed and released within a frame, and take a drag within one for a click. So some events wait
// for the next frame, with all that come after them. Characters are never missed.
struct Screen::InputOfFrame {
  std::vector<int> keys;  // that are not letters
  std::array<bool, 3> buttons{};
  bool had_press = false, has_press = false, has_button = false, has_movement = false;

  bool lets_wait(const InputEvent& event) const {
    switch (event.kind) {
      case InputEvent::key:
        return std::find(keys.begin(), keys.end(), event.code) != keys.end();
      case InputEvent::button:
        // What a shortcut opens is drawn in the next frame and can be clicked in the one after it.
        return had_press || has_press || buttons[event.code] ||
               (event.action == GLFW_RELEASE && has_movement);
      case InputEvent::movement:
        return has_button;
      case InputEvent::character:
        break;
    }
    return false;
  }
};

void Screen::feed(const InputEvent& event, InputOfFrame& frame) {
  switch (event.kind) {
    case InputEvent::key: {
      const bool has_ctrl = (event.mods & GLFW_MOD_CONTROL) != 0;
      constexpr int others = GLFW_MOD_ALT | GLFW_MOD_SUPER;  // shortcuts of the desktop
      if (event.action != GLFW_RELEASE && (event.mods & others) == 0) {
        pressed_.push_back({key_in_layout(event.code, event.scancode), has_ctrl});
        frame.has_press = true;
      }
      const bool is_control = event.code > 255 || has_ctrl;
      if (is_control && event.action != GLFW_REPEAT) frame.keys.push_back(event.code);
      ImGui_ImplGlfw_KeyCallback(window_, event.code, event.scancode, event.action, event.mods);
      break;
    }
    case InputEvent::character:
      ImGui_ImplGlfw_CharCallback(window_, static_cast<unsigned>(event.code));
      break;
    case InputEvent::button:
      frame.buttons[event.code] = frame.has_button = true;
      held_[event.code] = event.action == GLFW_PRESS;
      break;
    case InputEvent::movement:
      frame.has_movement = true;
      pointer_ = event.pointer;
  }
}

void Screen::feed_input() {
  InputOfFrame frame;
  frame.had_press = had_press_;
  for (; !input_.empty() && !frame.lets_wait(input_.front()); input_.pop_front())
    feed(input_.front(), frame);
  had_press_ = frame.has_press;
  if (!input_.empty()) settling_ = frames_to_settle;
  ImGuiIO& io = ImGui::GetIO();
  const bool has_mouse = frame.has_movement || frame.has_button || !input_.empty();
#if IMGUI_VERSION_NUM < 18700  // where the backend has just read both from GLFW
  if (has_mouse) io.MousePos = pointer_;
  std::copy(held_.begin(), held_.end(), io.MouseDown);
#else
  if (!has_mouse) return;
  io.AddMousePosEvent(pointer_.x, pointer_.y);
  for (std::size_t i = 0; i < held_.size(); ++i)
    io.AddMouseButtonEvent(static_cast<int>(i), held_[i]);
#endif
}

void Screen::wake() {
  if (is_screen_open) glfwPostEmptyEvent();
}

bool Screen::is_closed() const {
  return glfwWindowShouldClose(window_) != 0;
}

void Screen::draw(const std::function<void()>& contents, bool may_wait) {
  take_events(may_wait);
  change_font_size();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  feed_input();
  ImGui::NewFrame();
  contents();
  ImGui::Render();
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  glViewport(0, 0, width, height);
  const ImVec4 ground = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
  glClearColor(ground.x, ground.y, ground.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Screen::show() {
  glfwSwapBuffers(window_);
}

bool Screen::is_minimised() const {
  return glfwGetWindowAttrib(window_, GLFW_ICONIFIED) != 0;
}

void Screen::set_title(const std::string& title) {
  if (title == title_) return;
  title_ = title;
  glfwSetWindowTitle(window_, title.c_str());
}

Rect Screen::place() const {
  if (glfwGetWindowMonitor(window_)) return windowed_;
  Rect place;
  glfwGetWindowPos(window_, &place.x, &place.y);
  glfwGetWindowSize(window_, &place.width, &place.height);
  return place;
}

void Screen::close() {
  glfwSetWindowShouldClose(window_, GLFW_TRUE);
}

void Screen::toggle_fullscreen() {
  if (glfwGetWindowMonitor(window_)) {
    glfwSetWindowMonitor(window_, nullptr, windowed_.x, windowed_.y, windowed_.width,
                         windowed_.height, GLFW_DONT_CARE);
    return;
  }
  GLFWmonitor* const monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* const mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
  if (!mode) return;
  windowed_ = place();
  glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

std::vector<std::string> Screen::dropped() {
  return std::exchange(dropped_, {});
}

std::vector<Screen::Press> Screen::pressed() {
  return std::exchange(pressed_, {});
}

Image<Bgr> Screen::pixels() const {
  Size size;
  glfwGetFramebufferSize(window_, &size.width, &size.height);
  std::vector<Bgr> bottom_up(size.area());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, size.width, size.height, GL_BGR, GL_UNSIGNED_BYTE, bottom_up.data());
  Image<Bgr> image(size);
  for (int y = 0; y < size.height; ++y)
    std::copy_n(bottom_up.data() + static_cast<std::size_t>(size.height - 1 - y) * size.width,
                size.width, image.row(y));
  return image;
}

DisplayLoss::DisplayLoss(std::function<void()> act) {
  last_act = std::move(act);
  if (const SetHandler set = find_set_handler()) set(act_and_end);
}

DisplayLoss::~DisplayLoss() {
  if (const SetHandler set = find_set_handler()) set(nullptr);
  last_act = nullptr;
}

}  // namespace facesat::app

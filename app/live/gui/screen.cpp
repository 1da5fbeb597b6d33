#include "app/live/gui/screen.hpp"

#include <algorithm>
#include <atomic>
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
  input_.emplace(window_);
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
  if (input_->feed()) settling_ = frames_to_settle;
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

#include "app/live/gui/display_loss.hpp"

#include <cstdlib>
#include <utility>

#include <dlfcn.h>

namespace facesat::app {
namespace {

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

DisplayLoss::DisplayLoss(std::function<void()> act) {
  last_act = std::move(act);
  if (const SetHandler set = find_set_handler()) set(act_and_end);
}

DisplayLoss::~DisplayLoss() {
  if (const SetHandler set = find_set_handler()) set(nullptr);
  last_act = nullptr;
}

}  // namespace facesat::app

#include "tests/kit/desktop.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace facesat::test {
namespace {

std::string title_of(::Display* display, Window window) {
  char* name = nullptr;
  if (!XFetchName(display, window, &name)) return "";
  std::string title = name;
  XFree(name);
  return title;
}

// The visible child of `parent` of this class or with this title; 0 if there is none.
Window window_of(::Display* display, Window parent, const std::string& wanted) {
  Window root = 0, unused = 0, *children = nullptr, found = 0;
  unsigned count = 0;
  if (!XQueryTree(display, parent, &root, &unused, &children, &count)) return 0;
  for (unsigned i = 0; i < count && !found; ++i) {
    XClassHint hint{};
    XWindowAttributes attributes{};
    const bool is_wanted =
        (XGetClassHint(display, children[i], &hint) && wanted == hint.res_class) ||
        wanted == title_of(display, children[i]);
    if (is_wanted && XGetWindowAttributes(display, children[i], &attributes) &&
        attributes.map_state == IsViewable)
      found = children[i];
    if (hint.res_name) XFree(hint.res_name);
    if (hint.res_class) XFree(hint.res_class);
  }
  if (children) XFree(children);
  return found;
}

}  // namespace

struct Desktop::Connection {
  ::Display* display = nullptr;
  Window window = 0;  // the program's
  Window source = 0;  // where files are dragged from

  Atom atom(const char* name) const { return XInternAtom(display, name, False); }

  // Sends the program's window a client message; a .. e are its data.
  void send(const char* type, long a, long b = 0, long c = 0, long d = 0, long e = 0) const {
    XEvent event{};
    event.xclient.type = ClientMessage;
    event.xclient.window = window;
    event.xclient.message_type = atom(type);
    event.xclient.format = 32;
    const long data[]{a, b, c, d, e};
    std::copy(std::begin(data), std::end(data), event.xclient.data.l);
    XSendEvent(display, window, False, NoEventMask, &event);
    XFlush(display);
  }

  void set_state(long state) const {
    const long data[]{state, None};
    XChangeProperty(display, window, atom("WM_STATE"), atom("WM_STATE"), 32, PropModeReplace,
                    reinterpret_cast<const unsigned char*>(data), 2);
  }

  // Answers a request for the dragged data.
  void hand_over(const XSelectionRequestEvent& request, const std::string& text) const {
    XChangeProperty(display, request.requestor, request.property, request.target, 8,
                    PropModeReplace, reinterpret_cast<const unsigned char*>(text.data()),
                    static_cast<int>(text.size()));
    XEvent answer{};
    answer.xselection.type = SelectionNotify;
    answer.xselection.requestor = request.requestor;
    answer.xselection.selection = request.selection;
    answer.xselection.target = request.target;
    answer.xselection.property = request.property;
    answer.xselection.time = request.time;
    XSendEvent(display, request.requestor, False, NoEventMask, &answer);
    XFlush(display);
  }
};

Desktop::Desktop(const std::string& display, const std::string& window)
    : x_(std::make_unique<Connection>()) {
  x_->display = XOpenDisplay(display.c_str());
  if (!x_->display) return;
  // When the program ends, its window vanishes; later requests to it must not end the tests.
  XSetErrorHandler([](::Display*, XErrorEvent*) { return 0; });
  eventually([&] {
    x_->window = window_of(x_->display, DefaultRootWindow(x_->display), window);
    return x_->window != 0;
  });
}

Desktop::~Desktop() {
  if (x_->display) XCloseDisplay(x_->display);
}

bool Desktop::is_there() const {
  return x_->window != 0;
}

std::string Desktop::title() const {
  return title_of(x_->display, x_->window);
}

Rect Desktop::place() const {
  XWindowAttributes about{};
  if (!XGetWindowAttributes(x_->display, x_->window, &about)) return {};
  return {about.x, about.y, about.width, about.height};
}

void Desktop::place(const Rect& there) {
  XMoveResizeWindow(x_->display, x_->window, there.x, there.y, static_cast<unsigned>(there.width),
                    static_cast<unsigned>(there.height));
  XFlush(x_->display);
}

void Desktop::resize(Size size) {
  XResizeWindow(x_->display, x_->window, static_cast<unsigned>(size.width),
                static_cast<unsigned>(size.height));
  XFlush(x_->display);
}

void Desktop::minimise() {
  x_->set_state(IconicState);
  XUnmapWindow(x_->display, x_->window);
  XFlush(x_->display);
}

void Desktop::restore() {
  x_->set_state(NormalState);
  XMapWindow(x_->display, x_->window);
  XFlush(x_->display);
}

void Desktop::close() {
  x_->send("WM_PROTOCOLS", static_cast<long>(x_->atom("WM_DELETE_WINDOW")), CurrentTime);
}

// The source's side of the XDND protocol, version 5.
bool Desktop::drop(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += "file://" + file + "\r\n";
  if (!x_->source)
    x_->source =
        XCreateSimpleWindow(x_->display, DefaultRootWindow(x_->display), 0, 0, 1, 1, 0, 0, 0);
  const auto source = static_cast<long>(x_->source);
  XSetSelectionOwner(x_->display, x_->atom("XdndSelection"), x_->source, CurrentTime);
  x_->send("XdndEnter", source, 5L << 24, static_cast<long>(x_->atom("text/uri-list")));
  // At (700, 400), which is in the picture.
  x_->send("XdndPosition", source, 0, 700L << 16 | 400, CurrentTime,
           static_cast<long>(x_->atom("XdndActionCopy")));
  x_->send("XdndDrop", source, 0, CurrentTime);
  bool is_taken = false;
  eventually([&] {
    if (XPending(x_->display) == 0) return false;
    XEvent event{};
    XNextEvent(x_->display, &event);
    if (event.type == SelectionRequest) x_->hand_over(event.xselectionrequest, text);
    const bool is_over =
        event.type == ClientMessage && event.xclient.message_type == x_->atom("XdndFinished");
    if (is_over) is_taken = event.xclient.data.l[1] != 0;
    return is_over;
  });
  return is_taken;
}

int Desktop::count(Bgr colour) const {
  XWindowAttributes about{};
  if (!XGetWindowAttributes(x_->display, x_->window, &about)) return 0;
  XImage* image = XGetImage(x_->display, x_->window, 0, 0, static_cast<unsigned>(about.width),
                            static_cast<unsigned>(about.height), AllPlanes, ZPixmap);
  if (!image) return 0;  // Xvfb's screens have 32 bits per pixel
  const std::uint32_t wanted =
      std::uint32_t{colour.r} << 16 | std::uint32_t{colour.g} << 8 | colour.b;
  std::ptrdiff_t found = 0;
  for (int y = 0; y < image->height; ++y) {
    const auto* const row =
        reinterpret_cast<const std::uint32_t*>(image->data + y * image->bytes_per_line);
    found += std::count_if(row, row + image->width,
                           [&](std::uint32_t pixel) { return (pixel & 0xFFFFFF) == wanted; });
  }
  XDestroyImage(image);
  return static_cast<int>(found);
}

bool Desktop::is_titled(const std::string& wanted) const {
  return eventually([&] { return title() == wanted; });
}

bool Desktop::shows(Bgr colour, int pixels) const {
  return eventually([&] { return count(colour) >= pixels; });
}

VirtualDisplay::VirtualDisplay() {
  int ends[2];
  if (pipe(ends) != 0) return;
  process_ = fork();
  if (process_ == 0) {
    // Xvfb writes its display number to descriptor 3, the end of the pipe.
    dup2(ends[1], 3);
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int descriptor : {0, 1, 2}) dup2(nowhere, descriptor);
    execlp("Xvfb", "Xvfb", "-displayfd", "3", "-noreset", "-screen", "0", "1400x900x24", nullptr);
    _exit(127);  // Xvfb is not installed
  }
  close(ends[1]);
  std::string number;
  for (char c; read(ends[0], &c, 1) == 1 && c != '\n';) number += c;
  close(ends[0]);
  if (!number.empty()) name = ":" + number;
}

VirtualDisplay::~VirtualDisplay() {
  end();
}

void VirtualDisplay::end() {
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

bool VirtualDisplay::act(const std::string& script, const std::string& window) const {
  const std::string command =
      "export DISPLAY=" + name + "; window=$(timeout " + std::to_string(patience().count()) +
      " xdotool search --sync --onlyvisible " + window +
      " | head -n 1) && [ -n \"$window\" ] && { " + script + "\n} >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null").c_str()) == 0;
}

}  // namespace facesat::test

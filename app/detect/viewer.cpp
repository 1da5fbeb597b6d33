#include "app/detect/viewer.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>

#include <fmt/format.h>

#include "media/highgui.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"
#include "support/messages.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

bool uses_window = false;

struct WindowInUse {
  WindowInUse() { uses_window = true; }
  ~WindowInUse() { uses_window = false; }
};

// Qt calls exit() when it loses its connection to the display.
void report_lost_display() {
  if (!uses_window) return;
  say_line("facesat: the connection to the display was lost");
  std::_Exit(3);  // other threads still run: nothing is destroyed
}

// The window's title: "photo.jpg: 2 faces", "video.avi, frame 7: 1 face"
std::string title_of(const Record& record) {
  const std::string frame = record.frame ? fmt::format(", frame {}", *record.frame) : "";
  const std::size_t faces = record.faces.size();
  return printable(
      fmt::format("{}{}: {} face{}", record.image, frame, faces, faces == 1 ? "" : "s"));
}

}  // namespace

struct Viewer::Request {
  View<const Bgr> picture;
  std::string title;
  bool is_shown = false;
};

Viewer::Viewer() {
  try {
    highgui();
  } catch (const Error& error) {
    throw UsageError(fmt::format("--show: {}", error.what()));
  }
}

void Viewer::run(const std::function<void()>& work) {
  using namespace std::chrono_literals;
  std::atexit(report_lost_display);
  const WindowInUse in_use;
  std::unique_ptr<PictureWindow> window = highgui().make_window();
  std::exception_ptr failure;
  std::future<void> done = std::async(std::launch::async, work);
  while (done.wait_for(10ms) != std::future_status::ready) {
    Request* const request = request_;
    if (interrupted()) {
      window.reset();
      answer();
      continue;
    }
    try {
      if (request && !request->is_shown) {
        window->show(request->picture, request->title);
        request->is_shown = true;
      }
      const PictureWindow::Answer said = window->wait(40);
      if (said == PictureWindow::Answer::next && request) answer();
      was_ended_ = said == PictureWindow::Answer::end;
    } catch (...) {
      failure = std::current_exception();
    }
    if (was_ended_ || failure) request_end();
  }
  window.reset();
  done.get();
  if (failure) std::rethrow_exception(failure);
}

void Viewer::show(const Item& item) {
  if (!item.shown || interrupted()) return;
  Request request{item.shown->view(), title_of(item.record)};
  request_ = &request;
  answered_.acquire();
}

void Viewer::answer() {
  if (request_.exchange(nullptr)) answered_.release();
}

}  // namespace facesat::app

#include "app/live/saving.hpp"

#include <utility>

#include <unistd.h>

#include "app/live/comparison_files.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string full_path(const std::string& file) {
  std::error_code failure;
  const fs::path path = fs::absolute(file, failure);
  return failure ? file : path.lexically_normal().string();
}

}  // namespace

Saving::Saving(const std::string& record, Outputs& outputs, Detection& detection, Toasts& toasts)
    : record_(record),
      outputs_(outputs),
      detection_(detection),
      toasts_(toasts),
      recording_(record),
      since_(Clock::now()) {
  if (!record.empty()) detection_.record(record);
}

void Saving::use_folder(const std::string& folder) {
  if (!folder.empty()) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) throw OutputError(folder + ": there is no such folder");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
      throw OutputError(folder + ": this folder cannot be written to");
  }
  folder_ = folder;
}

void Saving::attempt(const std::function<std::string()>& write) {
  try {
    if (const std::string file = write(); !file.empty()) toasts_.say_saved(full_path(file));
  } catch (...) {
    const std::string reason = reason_of(std::current_exception());
    toasts_.warn(reason);
    failures_.push_back(reason);
  }
}

void Saving::save_screenshot(const Screen& screen) {
  attempt([&] {
    const std::string file = make_dated_file(folder_, "png");
    write_picture(file, screen.pixels().view());
    return file;
  });
}

void Saving::save_times(const History& history) {
  attempt([&] {
    const std::string file = make_dated_file(folder_, "csv");
    write_text(file, times_csv({history.samples().begin(), history.samples().end()}));
    return file;
  });
}

void Saving::save_comparison(const Comparison& comparison, const std::string& extension) {
  attempt([&] {
    const std::string file = make_dated_file(folder_, extension);
    write_text(file, extension == "csv" ? comparison_csv(comparison) : comparison_page(comparison));
    return file;
  });
}

std::chrono::nanoseconds Saving::recorded() const {
  return Clock::now() - since_;
}

void Saving::toggle_recording() {
  if (is_recording()) return finish_recording();
  attempt([this] {
    recording_ = make_dated_file(folder_, "avi");
    outputs_.set_recording(recording_);
    detection_.record(recording_);
    since_ = Clock::now();
    return "";
  });
}

void Saving::check_recording() {
  if (is_recording() && !detection_.recorder().failure().empty()) finish_recording();
}

void Saving::finish_recording() {
  if (!is_recording()) return;
  detection_.record("");
  outputs_.set_recording({});
  attempt([this] {
    std::string file = std::exchange(recording_, "");
    if (const std::string why = detection_.recorder().failure(); !why.empty())
      throw OutputError(why);
    std::error_code ignored;
    if (file != record_ && fs::is_empty(file, ignored)) {
      fs::remove(file, ignored);
      toasts_.say("there was no frame to record");
      return std::string();
    }
    return file;
  });
}

void Saving::write_screenshot(const std::string& file, Screen& screen,
                              const std::function<void()>& draw) {
  attempt([&] {
    screen.draw(draw, false);
    outputs_.check_screenshot();  // again: the file may have appeared meanwhile
    write_picture(file, screen.pixels().view());
    return "";
  });
}

void Saving::write_times(const std::string& file, const std::vector<Sample>& samples) {
  attempt([&] {
    outputs_.check_times();
    write_text(file, times_csv(samples));
    return "";
  });
}

}  // namespace facesat::app

// The files that the window writes while it runs: screenshots, recordings and times.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "app/live/detection/detection.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/gui/screen.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/outputs.hpp"

namespace facesat::app {

class Saving {
 public:
  // `record`: the file of --record, into which the recording begins now; empty: none. The others
  // are borrowed.
  Saving(const std::string& record, Outputs& outputs, Detection& detection, Toasts& toasts);

  // Where the files go from now on; empty: the current folder. Throws OutputError, and goes on with
  // the folder before, if it is none that can be written to.
  void use_folder(const std::string& folder);
  const std::string& folder() const { return folder_; }

  void save_screenshot(const Screen& screen);
  void save_times(const History& history);
  // `extension`: "csv" or "html".
  void save_comparison(const Comparison& comparison, const std::string& extension);
  // Calls write(), which returns the files written, if it wrote any, and tells the user where they
  // are. A failure is shown, too, and kept.
  void attempt(const std::function<std::string()>& write);

  void toggle_recording();
  bool is_recording() const { return !recording_.empty(); }
  std::chrono::nanoseconds recorded() const;
  // Ends a recording that has failed, and says so.
  void check_recording();

  // At the end of the run: finishes the recording, and writes the outputs of the command line.
  // draw() draws the window once more for the screenshot.
  void finish_recording();
  void write_screenshot(const std::string& file, Screen& screen, const std::function<void()>& draw);
  void write_times(const std::string& file, const std::vector<Sample>& samples);

  // A sentence on each output that could not be written, in the order of their ends.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  const std::string record_;
  Outputs& outputs_;
  Detection& detection_;
  Toasts& toasts_;
  std::string folder_;
  std::string recording_;  // the video being recorded; empty: none
  std::chrono::steady_clock::time_point since_;
  std::vector<std::string> failures_;
};

}  // namespace facesat::app

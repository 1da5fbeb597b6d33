#include "app/detect/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "support/messages.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

// "1:05" or "1:01:05".
std::string clock_time(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

Progress::~Progress() {
  finish();
}

void Progress::count_in_background(Inputs inputs, const Shard& shard) {
  if (!shown_) return;
  const auto count = [this, shard](const std::stop_token& stop, Inputs all) {
    try {
      std::size_t total = 0;
      for (std::optional<Input> input; !stop.stop_requested() && (input = all.next());)
        total += shard.has(input->name);
      if (!stop.stop_requested()) total_ = total;
    } catch (...) {  // the run itself reports what is wrong with an input
    }
  };
  counter_ = std::jthread(count, std::move(inputs));
}

void Progress::update(const Counts& counts) {
  if (!shown_) return;
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(standard_error_is_terminal() ? 100 : 1000)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(counts.records) / seconds;
  const std::size_t total = total_;
  std::string line =
      total == 0 ? fmt::format("{}", counts.inputs) : fmt::format("{}/{}", counts.inputs, total);
  line += fmt::format("  {:.1f} images/s  {}", rate, plural(counts.faces, "face"));
  if (counts.failures > 0) line += "  " + plural(counts.failures, "failure");
  const std::size_t processed = counts.inputs - counts.skipped;
  if (total > counts.inputs && processed > 0)
    line +=
        fmt::format("  {} left", clock_time(seconds * static_cast<double>(total - counts.inputs) /
                                            static_cast<double>(processed)));
  erase();
  line_open_ = standard_error_is_terminal();
  say(line + (line_open_ ? "" : "\n"));
}

void Progress::message(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  erase();
  say_line(line);
}

void Progress::finish() {
  const std::scoped_lock lock(mutex_);
  erase();
}

void Progress::erase() {
  if (line_open_) say("\r\033[K");  // to the beginning of the line, and erase it
  line_open_ = false;
}

std::string summary(const Counts& counts, std::chrono::duration<double> time) {
  std::string line =
      fmt::format("{}, {}", plural(counts.records, "image"), plural(counts.faces, "face"));
  if (counts.failures > 0) line += ", " + plural(counts.failures, "failure");
  if (counts.warnings > 0) line += ", " + plural(counts.warnings, "warning");
  return line + fmt::format(" in {:.1f} s", time.count());
}

namespace {

// "3 .heic, 1 .txt": the four most frequent extensions of skipped files, the most frequent first.
std::string extensions_in_words(const Inputs::Skipped& found) {
  constexpr std::size_t most = 4;
  std::vector<std::pair<std::string, std::size_t>> all(found.extensions.begin(),
                                                       found.extensions.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    const auto& [extension, count] = all[i];
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", count,
                        extension.empty() ? "without an extension" : extension);
  }
  return all.size() > most ? text + ", ..." : text;
}

}  // namespace

std::string summary(const Inputs::Skipped& found) {
  std::string text;
  const auto add = [&](std::size_t count, const char* noun, const std::string& why) {
    if (count > 0)
      text += fmt::format("{}{} ({})", text.empty() ? "skipped: " : ", ", plural(count, noun), why);
  };
  add(found.files, "file", extensions_in_words(found) + ": not read in folders");
  add(found.folders, "folder", "-r descends into them");
  add(found.links, "folder link", "already read under another name");
  add(found.links_in_archives, "link", "in archives");
  add(found.special, "special file",
      "pipes, devices, and folders in archives, that are named like pictures");
  add(found.hidden, "hidden name", "give hidden files and folders by name");
  add(found.own, "picture", "written by facesat into the folder of this run's pictures");
  return text;
}

}  // namespace facesat::app

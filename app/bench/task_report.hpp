// The HTML page that shows the results of `facesat bench tasks`.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace facesat::app {

struct TaskReport {
  nlohmann::ordered_json rows;     // as in `facesat bench tasks --json`
  nlohmann::ordered_json machine;  // from machine_json()
  std::string command;             // the command line; empty: unknown
};

// A page like that of `facesat bench sat` (sat_report.hpp): for each problem the fastest schedule,
// times against the floor, times in order, and all figures; then what the schedules are.
std::string to_html(const TaskReport& report);

}  // namespace facesat::app

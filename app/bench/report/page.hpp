// What the HTML pages of `facesat bench sat` and `facesat bench scan` have in common.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "app/bench/report/rows.hpp"

namespace facesat::app::report {

// What a page is about.
struct Run {
  nlohmann::ordered_json rows;     // as `--json` writes them
  nlohmann::ordered_json machine;  // from machine_json()
  std::string command;             // the command line; empty: unknown
};

// How many rows were correct, wrong, or could not be measured, as an HTML paragraph.
std::string outcome(const Rows& rows);

// A sentence on the fastest algorithm with correct results, at the largest size.
std::string winner(const Rows& rows);

// The whole page. It begins with the title, the properties of the machine and the command; `header`
// and `sections` are HTML. The element with the id "data" holds the run as JSON.
std::string page(const std::string& title, const Run& run, const std::string& header,
                 const std::string& sections);

}  // namespace facesat::app::report

// The results of an evaluation as text, CSV and JSON, and as a page in HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/evaluate/measurement.hpp"

namespace facesat::app {

std::string_view name_of(Sweep sweep);               // "neighbors"
std::string_view name_of(training::Criterion rule);  // "iou"

// The rates of an operating point.
struct Rates {
  double recall = 0;       // the part of the objects that was found
  double per_picture = 0;  // false alarms
  double precision = 0;    // found objects of these and false alarms; 1 if there are neither
};
Rates rates_of(const training::Counts& counts, const Evaluation& evaluation);

// "281 objects in 72 pictures ..."
std::string scope_of(const Evaluation& evaluation, const EvaluateCommand& command);

// At most `most` points, evenly spread by what they find, with the first and the last one.
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most);

// What is printed: a row for each cascade, and the curves that the command names.
std::string table_of(const Evaluation& evaluation, const EvaluateCommand& command);

// The row of titles of CSV, by which earlier results are recognised; all curves.
extern const std::string_view csv_titles;
std::string csv_of(const Evaluation& evaluation);

// Everything, with all misses and false alarms. The text begins with json_beginning.
extern const std::string_view json_beginning;
nlohmann::ordered_json json_of(const Evaluation& evaluation, const EvaluateCommand& command,
                               const std::vector<TestPicture>& pictures);

// Reads some of the pictures again, to show misses and false alarms.
std::string page_of(const Evaluation& evaluation, const EvaluateCommand& command,
                    const std::vector<TestPicture>& pictures);

}  // namespace facesat::app

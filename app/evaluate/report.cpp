#include "app/evaluate/report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/text.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

// The value of what is varied; scores as they are.
std::string value_text(Sweep sweep, double value) {
  return sweep == Sweep::neighbors || sweep == Sweep::stages ? fmt::format("{:.0f}", value)
                                                             : fmt::format("{:.4f}", value);
}

// The titles of the columns of every table, and what stands below them.
std::string count_titles() {
  return fmt::format("{:>7} {:>7} {:>8} {:>9} {:>11} {:>9}", "found", "missed", "recall", "false",
                     "per picture", "precision");
}
std::string count_columns(const training::Counts& counts, const Evaluation& evaluation) {
  const Rates rates = rates_of(counts, evaluation);
  return fmt::format("{:>7} {:>7} {:>6.1f} % {:>9} {:>11.3f} {:>7.1f} %", counts.found,
                     evaluation.objects - counts.found, 100 * rates.recall, counts.false_alarms,
                     rates.per_picture, 100 * rates.precision);
}

std::string sweep_table(const Evaluation& evaluation, Sweep sweep, std::size_t width) {
  const bool has_rates = sweep == Sweep::windows || sweep == Sweep::stages;
  std::string table =
      fmt::format("\n{:<{}} {:>9} {}{}\n", "cascade", width, name_of(sweep), count_titles(),
                  has_rates ? fmt::format(" {:>12}", "window rate") : "");
  for (const CascadeResult& cascade : evaluation.cascades)
    for (const Curve& curve : cascade.curves) {
      if (curve.sweep != sweep) continue;
      constexpr std::size_t rows = 21;  // as many as there are by neighbors
      const bool is_long = sweep == Sweep::score || sweep == Sweep::windows;
      for (const Point& point : is_long ? thinned(curve.points, rows) : curve.points)
        table +=
            fmt::format("{:<{}} {:>9} {}{}\n", printable(cascade.name), width,
                        value_text(sweep, point.value), count_columns(point.counts, evaluation),
                        point.window_rate ? fmt::format(" {:>12.3e}", *point.window_rate) : "");
    }
  return table;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

Json json_of(const training::Counts& counts, const Evaluation& evaluation) {
  const Rates rates = rates_of(counts, evaluation);
  return {{"found", counts.found},
          {"missed", evaluation.objects - counts.found},
          {"recall", rates.recall},
          {"false", counts.false_alarms},
          {"false_per_picture", rates.per_picture},
          {"precision", rates.precision}};
}

Json json_of(const CascadeResult& cascade, const Evaluation& evaluation,
             const std::vector<TestPicture>& pictures) {
  Json json{{"name", cascade.name},
            {"window", fmt::format("{}x{}", cascade.window.width, cascade.window.height)},
            {"stages", cascade.stages}};
  json.update(json_of(cascade.counts, evaluation));
  json["average_precision"] = cascade.average_precision;
  Json& curves = json["curves"] = Json::object();
  for (const Curve& curve : cascade.curves) {
    Json& points = curves[std::string(name_of(curve.sweep))] = Json::array();
    for (const Point& point : curve.points) {
      Json row{{"value", point.value}};
      row.update(json_of(point.counts, evaluation));
      if (point.window_rate) row["window_rate"] = *point.window_rate;
      points.push_back(std::move(row));
    }
  }
  Json& misses = json["misses"] = Json::array();
  for (const auto& [picture, box] : cascade.misses)
    misses.push_back({{"image", pictures[picture].annotated.name},
                      {"x", box.x},
                      {"y", box.y},
                      {"width", box.width},
                      {"height", box.height}});
  Json& false_alarms = json["false_alarms"] = Json::array();
  for (const auto& [picture, face] : cascade.false_alarms)
    false_alarms.push_back({{"image", pictures[picture].annotated.name},
                            {"x", face.box.x},
                            {"y", face.box.y},
                            {"width", face.box.width},
                            {"height", face.box.height},
                            {"neighbors", face.neighbors},
                            {"score", face.score}});
  return json;
}

}  // namespace

std::string_view name_of(Sweep sweep) {
  constexpr std::string_view names[] = {"neighbors", "score", "stages", "windows"};
  return names[static_cast<std::size_t>(sweep)];
}

std::string_view name_of(training::Criterion rule) {
  constexpr std::string_view names[] = {"iou", "centre", "opencv", "uiuc"};
  return names[static_cast<std::size_t>(rule)];
}

Rates rates_of(const training::Counts& counts, const Evaluation& evaluation) {
  const auto ratio = [](std::size_t part, std::size_t whole, double empty) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : empty;
  };
  return {ratio(counts.found, evaluation.objects, 0),
          ratio(counts.false_alarms, evaluation.pictures, 0),
          ratio(counts.found, counts.found + counts.false_alarms, 1)};
}

std::string scope_of(const Evaluation& evaluation, const EvaluateCommand& command) {
  std::string text = plural(evaluation.objects, "object");
  if (evaluation.ignored > 0) text += fmt::format(" (and {} ignored)", evaluation.ignored);
  text += " in " + plural(evaluation.pictures, "picture");
  if (evaluation.failures > 0)
    text += fmt::format(" ({} more could not be read)", evaluation.failures);
  text += fmt::format("; --match {}", name_of(command.match.criterion));
  if (command.match.criterion == training::Criterion::iou)
    text += fmt::format(" --iou {}", command.match.iou);
  return text + fmt::format(", --min-neighbors {}", command.detect.min_neighbors);
}

std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most) {
  if (points.size() <= most) return points;
  const std::size_t low = points.front().counts.found, high = points.back().counts.found;
  std::vector<Point> left;
  for (const Point& point : points) {
    // The first point that finds as many as the next one of `most` even steps.
    const std::size_t wanted = low + (high - low) * left.size() / (most - 1);
    if (&point == &points.back() || (point.counts.found >= wanted && left.size() + 1 < most))
      left.push_back(point);
  }
  return left;
}

std::string table_of(const Evaluation& evaluation, const EvaluateCommand& command) {
  std::size_t width = 24;
  for (const CascadeResult& cascade : evaluation.cascades)
    width = std::max(width, printable(cascade.name).size());
  std::string table = fmt::format("{}\n\n{:<{}} {}\n", scope_of(evaluation, command), "cascade",
                                  width, count_titles());
  for (const CascadeResult& cascade : evaluation.cascades)
    table += fmt::format("{:<{}} {}\n", printable(cascade.name), width,
                         count_columns(cascade.counts, evaluation));
  for (const Sweep sweep : {Sweep::neighbors, Sweep::score, Sweep::stages, Sweep::windows})
    if (command.has(sweep)) table += sweep_table(evaluation, sweep, width);
  return table;
}

const std::string_view csv_titles =
    "cascade,curve,value,objects,found,missed,recall,false,pictures,false_per_picture,precision,"
    "window_rate\n";

std::string csv_of(const Evaluation& evaluation) {
  std::string csv(csv_titles);
  for (const CascadeResult& cascade : evaluation.cascades)
    for (const Curve& curve : cascade.curves)
      for (const Point& point : curve.points) {
        const Rates rates = rates_of(point.counts, evaluation);
        csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(cascade.name),
                           name_of(curve.sweep), point.value, evaluation.objects,
                           point.counts.found, evaluation.objects - point.counts.found,
                           rates.recall, point.counts.false_alarms, evaluation.pictures,
                           rates.per_picture, rates.precision,
                           point.window_rate ? fmt::format("{}", *point.window_rate) : "");
      }
  return csv;
}

const std::string_view json_beginning = "{\n  \"facesat_evaluate\": ";

Json json_of(const Evaluation& evaluation, const EvaluateCommand& command,
             const std::vector<TestPicture>& pictures) {
  Json match{{"criterion", name_of(command.match.criterion)}};
  if (command.match.criterion == training::Criterion::iou) match["iou"] = command.match.iou;
  Json options = Json::object();
  for (const Field<DetectOptions>& field : detection_fields())
    if (field.name != "inside-of" && field.name != "only-with-inner")
      options[field.key()] = text_of(field, command.detect);
  Json cascades = Json::array();
  for (const CascadeResult& cascade : evaluation.cascades)
    cascades.push_back(json_of(cascade, evaluation, pictures));
  return {{"facesat_evaluate", command.line}, {"annotations", command.annotations},
          {"pictures", evaluation.pictures},  {"unreadable", evaluation.failures},
          {"objects", evaluation.objects},    {"ignored", evaluation.ignored},
          {"match", std::move(match)},        {"detection", std::move(options)},
          {"cascades", std::move(cascades)}};
}

}  // namespace facesat::app

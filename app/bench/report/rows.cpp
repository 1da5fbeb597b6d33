#include "app/bench/report/rows.hpp"

#include <cmath>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace facesat::app::report {
namespace {

using Json = nlohmann::ordered_json;

std::string text_in(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

// The number, or zero if it is missing, not finite or not positive, because it must fit on a
// logarithmic axis.
double number_in(const Json& row, const char* key) {
  const auto found = row.find(key);
  const double value = found != row.end() && found->is_number() ? found->get<double>() : 0;
  return std::isfinite(value) && value > 0 ? value : 0;
}

std::optional<double> value_in(const Json& row) {
  const auto found = row.find("value");
  if (found == row.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<bool> truth_in(const Json& row, const char* key) {
  const auto found = row.find(key);
  if (found == row.end() || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

Row to_row(const Json& row) {
  const auto integer = [&](const char* key) { return static_cast<int>(number_in(row, key)); };
  const auto number = [&](const char* key) { return number_in(row, key); };
  const int n = integer("n");
  return {.id = text_in(row, "id"),
          .type = text_in(row, "type"),
          .failure = text_in(row, "failure"),
          .model = text_in(row, "model"),
          .squares = truth_in(row, "squares").value_or(false),
          .width = n > 0 ? n : integer("width"),
          .height = n > 0 ? 1 : integer("height"),
          .n = n,
          .settings = text_in(row, "settings"),
          .median_us = number("median_us"),
          .min_us = number("min_us"),
          .p95_us = number("p95_us"),
          .gb_per_s = number("gb_per_s"),
          .ratio = number("ratio"),
          .model_us = number("model_us"),
          .checked = truth_in(row, "checked"),
          .value = value_in(row),
          .searched = truth_in(row, "searched").value_or(false)};
}

void set_speedups(Rows& rows) {
  const auto tables = [](const Row& row) {
    return std::tie(row.type, row.squares, row.width, row.height);
  };
  for (const Row& opencv : rows)
    if (opencv.id == "opencv_style")
      for (Row& row : rows)
        if (tables(row) == tables(opencv) && row.median_us > 0)
          row.speedup = opencv.median_us / row.median_us;
}

}  // namespace

Rows rows_of(const Json& rows) {
  Rows all;
  for (const Json& row : rows) all.push_back(to_row(row));
  set_speedups(all);
  return all;
}

std::vector<Rows> by_id(const Rows& rows) {
  return grouped(rows, [](const Row& row) { return row.id; });
}

std::vector<Rows> by_algorithm(const Rows& rows) {
  return grouped(rows, [](const Row& row) { return row.algorithm(); });
}

std::vector<Rows> by_size(const Rows& rows) {
  auto groups = grouped(rows, [](const Row& row) { return std::pair(row.width, row.height); });
  std::stable_sort(groups.begin(), groups.end(), [](const Rows& a, const Rows& b) {
    return a.front().pixels() < b.front().pixels();
  });
  return groups;
}

}  // namespace facesat::app::report

#include "lab/page/rows.hpp"

#include <cmath>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace facesat::lab {
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
          .section = {},
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
          .reads = number("reads"),
          .all_right = truth_in(row, "checked"),
          .value = value_in(row),
          .is_part = false,
          .searched = truth_in(row, "searched").value_or(false)};
}

}  // namespace

Rows rows_of(const Json& rows, const std::function<void(Row&, const Json&)>& complete) {
  Rows all;
  for (const Json& json : rows) {
    all.push_back(to_row(json));
    complete(all.back(), json);
  }
  return all;
}

void set_speedups(Rows& rows, const std::string& over) {
  const auto case_of = [](const Row& row) { return std::tie(row.section, row.width, row.height); };
  for (const Row& slower : rows)
    if (slower.id == over)
      for (Row& row : rows)
        if (case_of(row) == case_of(slower) && row.median_us > 0)
          row.speedup = slower.median_us / row.median_us;
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

}  // namespace facesat::lab

#include "app/bench/report/rows.hpp"

#include <cmath>
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

std::optional<bool> truth_in(const Json& row, const char* key) {
  const auto found = row.find(key);
  if (found == row.end() || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

Row to_row(const Json& row) {
  const auto integer = [&](const char* key) { return static_cast<int>(number_in(row, key)); };
  const auto number = [&](const char* key) { return number_in(row, key); };
  return {.id = text_in(row, "id"),
          .type = text_in(row, "type"),
          .failure = text_in(row, "failure"),
          .model = text_in(row, "model"),
          .squares = truth_in(row, "squares").value_or(false),
          .width = integer("width"),
          .height = integer("height"),
          .median_us = number("median_us"),
          .min_us = number("min_us"),
          .p95_us = number("p95_us"),
          .gb_per_s = number("gb_per_s"),
          .ratio = number("ratio"),
          .model_us = number("model_us"),
          .checked = truth_in(row, "checked")};
}

}  // namespace

Rows rows_of(const Json& rows) {
  Rows all;
  for (const Json& row : rows) all.push_back(to_row(row));
  return all;
}

std::vector<Rows> by_id(const Rows& rows) {
  return grouped(rows, [](const Row& row) { return row.id; });
}

std::vector<Rows> by_size(const Rows& rows) {
  auto groups = grouped(rows, [](const Row& row) { return std::pair(row.width, row.height); });
  std::stable_sort(groups.begin(), groups.end(), [](const Rows& a, const Rows& b) {
    return a.front().pixels() < b.front().pixels();
  });
  return groups;
}

}  // namespace facesat::app::report

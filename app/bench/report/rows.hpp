// The rows of `facesat bench sat`, in the form that the HTML page needs.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace facesat::app::report {

struct Row {
  // The algorithm, the types of picture and table ("8u32s"), why nothing was measured (or ""), and
  // the name of the model that predicts the time (or "").
  std::string id, type, failure, model;
  bool squares = false;
  int width = 0, height = 0;
  // ratio: to the time of the floor, a kernel that only reads the picture and writes the table.
  double median_us = 0, min_us = 0, p95_us = 0, gb_per_s = 0, ratio = 0, model_us = 0;  // 0: none
  std::optional<bool> checked;  // is the table correct? nullopt: it was not compared

  double pixels() const { return static_cast<double>(width) * height; }
  bool is_reference() const { return id == "floor" || id == "memcpy"; }
};
using Rows = std::vector<Row>;

// Converts an array of rows as written by `facesat bench sat --json`.
Rows rows_of(const nlohmann::ordered_json& rows);

// Groups rows by key; groups are in the order of their first rows.
template <class Key>
std::vector<Rows> grouped(const Rows& rows, Key key) {
  std::vector<Rows> groups;
  for (const Row& row : rows) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const Rows& g) { return key(g.front()) == key(row); });
    (group == groups.end() ? groups.emplace_back() : *group).push_back(row);
  }
  return groups;
}

std::vector<Rows> by_id(const Rows& rows);
std::vector<Rows> by_size(const Rows& rows);  // small pictures first

template <class Predicate>
Rows filtered(const Rows& rows, Predicate predicate) {
  Rows chosen;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(chosen), predicate);
  return chosen;
}

}  // namespace facesat::app::report

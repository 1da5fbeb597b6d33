// The rows of a benchmark, in the form that its HTML page needs.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace facesat::lab {

struct Row {
  // The algorithm, what it computes (such as "8u32s", types of picture and table), why nothing was
  // measured (or ""), and the name of the model that predicts the time (or "").
  // "id:value" stands for an algorithm with a value of its parameter.
  std::string id, type, failure, model;
  std::string section;  // rows with the same one are shown together
  int width = 0, height = 0;
  int n = 0;             // of arrays: their length, which is also the width
  std::string settings;  // such as "threads=128,blocks=256"
  // ratio: to the time of the floor, a kernel that only reads the picture and writes the table.
  double median_us = 0, min_us = 0, p95_us = 0, gb_per_s = 0, ratio = 0, model_us = 0;  // 0: none
  double reads = 0;  // per element of the result; 0: not known
  // The time of Problem::speedup_over() in the same case over this one; 0 if it was not measured.
  double speedup = 0;
  std::optional<bool> all_right;  // is the result right? nullopt: it was not compared
  std::optional<double> value;    // of the algorithm's parameter; nullopt: it has none
  bool is_part = false;           // computes a part of the result, and so has less to do
  bool searched = false;          // measured only to find the fastest value

  double pixels() const { return static_cast<double>(width) * height; }
  std::string algorithm() const { return id.substr(0, id.find(':')); }
  bool is_reference() const { return id == "floor" || id == "memcpy"; }
};
using Rows = std::vector<Row>;

// Converts an array of rows as `--json` writes them. `complete` sets what a problem says in words
// of its own, and the section.
Rows rows_of(const nlohmann::ordered_json& rows,
             const std::function<void(Row&, const nlohmann::ordered_json&)>& complete);
// Sets the speed-ups over the rows of an algorithm.
void set_speedups(Rows& rows, const std::string& over);

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
std::vector<Rows> by_algorithm(const Rows& rows);
std::vector<Rows> by_size(const Rows& rows);  // small ones first

template <class Predicate>
Rows filtered(const Rows& rows, Predicate predicate) {
  Rows chosen;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(chosen), predicate);
  return chosen;
}

}  // namespace facesat::lab

#include "app/bench/scan_search.hpp"

#include <algorithm>

#include "app/bench/quantile.hpp"

namespace facesat::app {
namespace {

using gpu::ScanBenchRow;
using gpu::ScanBenchTask;
using ScanBenchRows = std::vector<ScanBenchRow>;

constexpr int coarse_runs = 3;
constexpr std::size_t finalists = 3;  // settings of each algorithm

bool is_good(const ScanBenchRow& row) {
  return row.failure.empty() && row.checked;
}

bool is_faster_row(const ScanBenchRow& a, const ScanBenchRow& b) {
  return quantile(a.us, 0.5) < quantile(b.us, 0.5);
}

// The rows of all settings of one algorithm, measured with few runs.
ScanBenchRows coarse_rows(const ScanBenchTask& task, const std::string& id) {
  ScanBenchTask coarse = task;
  coarse.runs = std::min(task.runs, coarse_runs);
  coarse.contenders.clear();
  for (const gpu::ScanSettings& settings : all_settings(*gpu::find_scan(id)))
    coarse.contenders.push_back({id, settings});
  ScanBenchRows rows;
  gpu::bench_scans(coarse, [&](const ScanBenchRow& row) {
    if (row.id == id) rows.push_back(row);
  });
  return rows;
}

}  // namespace

std::vector<gpu::ScanSettings> all_settings(const gpu::ScanAlgorithm& algorithm) {
  std::vector<gpu::ScanSettings> all{{}};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    std::vector<gpu::ScanSettings> longer;
    for (gpu::ScanSettings settings : all)
      for (const int choice : algorithm.parameters[i].choices) {
        settings[i] = choice;
        longer.push_back(settings);
      }
    all = std::move(longer);
  }
  return all;
}

void search_scans(const ScanBenchTask& task, const std::vector<std::string>& searched,
                  const std::function<void(const ScanBenchRow&)>& report) {
  const auto is_searched = [&](const std::string& id) {
    return std::find(searched.begin(), searched.end(), id) != searched.end();
  };
  ScanBenchTask full = task;
  full.contenders.clear();
  ScanBenchRows bad;
  for (const gpu::ScanContender& contender : task.contenders) {
    if (!is_searched(contender.id)) {
      full.contenders.push_back(contender);
      continue;
    }
    ScanBenchRows rows = coarse_rows(task, contender.id);
    const auto first_bad = std::stable_partition(rows.begin(), rows.end(), is_good);
    bad.insert(bad.end(), first_bad, rows.end());
    rows.erase(first_bad, rows.end());
    std::stable_sort(rows.begin(), rows.end(), is_faster_row);
    rows.resize(std::min(rows.size(), finalists));
    for (const ScanBenchRow& row : rows) full.contenders.push_back({row.id, row.settings});
  }
  ScanBenchRows measured;
  gpu::bench_scans(full, [&](const ScanBenchRow& row) { measured.push_back(row); });
  // Of an algorithm that was searched, only the fastest row stays, apart from bad ones.
  const auto is_fastest = [&](const ScanBenchRow& row) {
    return std::none_of(measured.begin(), measured.end(), [&](const ScanBenchRow& other) {
      return other.id == row.id && is_good(other) &&
             (is_faster_row(other, row) || (&other < &row && !is_faster_row(row, other)));
    });
  };
  for (const ScanBenchRow& row : measured)
    if (!is_searched(row.id) || !is_good(row) || is_fastest(row)) report(row);
  for (const ScanBenchRow& row : bad) report(row);
}

}  // namespace facesat::app

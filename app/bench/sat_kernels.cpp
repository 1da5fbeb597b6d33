#include "app/bench/sat_kernels.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench/quantile.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

// "1x32" for [1, 32, 1]; at least one number.
std::string dimensions(const Json& sides) {
  std::size_t count = sides.size();
  while (count > 1 && sides[count - 1] == 1) --count;
  std::string text = sides[0].dump();
  for (std::size_t i = 1; i < count; ++i) text.append("x").append(sides[i].dump());
  return text;
}

std::string line_of(const Json& row, const Json& kernel) {
  return fmt::format(
      "{:<30} {:<8} {:>11}  {:<24} {:>8} {:>12} {:>8} {:>9} {:>8} {:>8} {:>6} {:>10}\n",
      row["id"].get<std::string>(), row["type"].get<std::string>(),
      fmt::format("{}x{}", row["width"].get<int>(), row["height"].get<int>()),
      kernel["kernel"].get<std::string>(), kernel["launches"].get<int>(),
      dimensions(kernel["grid"]), dimensions(kernel["block"]), kernel["registers"].get<int>(),
      kernel["static_shared_bytes"].get<int>(), kernel["dynamic_shared_bytes"].get<int>(),
      kernel["resident_blocks"].get<int>(),
      kernel.contains("median_us") ? fmt::format("{:.2f}", kernel["median_us"].get<double>())
                                   : "-");
}

}  // namespace

Json kernels_json(const std::vector<gpu::SatBenchLaunch>& launches) {
  Json kernels = Json::array();
  for (const auto& [figures, count, us] : launches) {
    Json kernel{{"kernel", figures.kernel},
                {"launches", count},
                {"grid", figures.grid},
                {"block", figures.block},
                {"registers", figures.registers},
                {"static_shared_bytes", figures.static_bytes},
                {"dynamic_shared_bytes", figures.dynamic_bytes},
                {"resident_blocks", figures.resident_blocks}};
    if (!us.empty()) kernel["median_us"] = quantile(us, 0.5);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string kernels_table(const Json& rows) {
  std::string table =
      fmt::format("{:<30} {:<8} {:>11}  {:<24} {:>8} {:>12} {:>8} {:>9} {:>8} {:>8} {:>6} {:>10}\n",
                  "algorithm", "type", "size", "kernel", "launches", "grid", "block", "registers",
                  "static", "dynamic", "blocks", "median us");
  for (const Json& row : rows)
    if (row.contains("kernels"))
      for (const Json& kernel : row["kernels"]) table += line_of(row, kernel);
  return table;
}

}  // namespace facesat::app

#include "app/live/comparison_files.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "lab/files.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"
#include "lab/problem.hpp"
#include "results/format.hpp"

namespace facesat::app {
namespace {

// What the page says about the rows of a comparison.
class ComparisonReport final : public lab::Report {
 public:
  explicit ComparisonReport(const Comparison& comparison) : comparison_(comparison) {
    std::vector<std::unique_ptr<lab::Problem>> problems = lab::all_problems();
    sat_ = std::move(*std::ranges::find(problems, "sat", &lab::Problem::name));
    references = sat_->references;
    references["memcpy"] = {"A plain copy of as many bytes as must at least be read and written"};
  }

  lab::PageText page_text() const override {
    const std::string how =
        comparison_.on_device
            ? "Faces are detected in the frame with each algorithm. The time is that of the "
              "integral images within the detection, between two events of its CUDA graph; the "
              "faces are compared with those of the first algorithm."
            : "Each algorithm computes both integral images of every level of the frame's pyramid "
              "in one thread of the CPU, repeatedly, so that pictures that fit into the caches "
              "stay there. Every element of every table is compared.";
    return {.title = "Summed area tables of a frame, measured",
            .input = {},
            .check = {},
            .floor = {},
            .bytes = {},
            .method = how +
                      " The table has the medians; the floor is a plain copy of as many bytes as "
                      "must at least be read and written."};
  }
  void complete(lab::Row& row, const lab::Json&) const override { row.section = row.type; }
  std::string heading(const lab::Row&, const lab::Json&) const override {
    if (comparison_.pictures != 1)
      return fmt::format("sums over {}, with {} levels in their pyramids", comparison_.source_name,
                         comparison_.levels);
    return fmt::format("{}, {} × {}, {} levels of its pyramid", comparison_.source_name,
                       comparison_.image.width, comparison_.image.height, comparison_.levels);
  }
  std::string section(const lab::Rows& rows, const lab::Looks&) const override {
    return lab::winner(rows) + lab::order_charts(rows) + "<h3>All figures</h3>\n" +
           lab::figures_table(rows);
  }
  std::vector<std::string> explained_columns() const override { return sat_->explained_columns(); }
  lab::Explanation explain(const std::string& id) const override { return sat_->explain(id); }

 private:
  const Comparison& comparison_;
  std::unique_ptr<lab::Problem> sat_;
};

lab::Json rows_of(const Comparison& comparison) {
  lab::Json rows = lab::Json::array();
  const auto add = [&](const std::string& id, double ms) -> lab::Json& {
    lab::Json row{{"id", id},
                  {"type", comparison.on_device ? "On the GPU" : "On the CPU"},
                  {"width", comparison.image.width},
                  {"height", comparison.image.height}};
    if (ms > 0) row["median_us"] = 1000 * ms;
    if (ms > 0 && comparison.floor_ms > 0) row["ratio"] = ms / comparison.floor_ms;
    return rows.emplace_back(std::move(row));
  };
  if (comparison.floor_ms > 0) add("memcpy", comparison.floor_ms);
  for (const SatRank& rank : comparison.ranks) {
    lab::Json& row = add(rank.id, rank.sat_ms);
    if (rank.detect_ms > 0) row["detect_us"] = 1000 * rank.detect_ms;
    if (rank.failure.empty())
      row["checked"] = rank.identical;
    else
      row["failure"] = rank.failure;
  }
  return rows;
}

}  // namespace

std::string comparison_csv(const Comparison& comparison) {
  std::string text =
      "algorithm,sat_ms,times_copy,detect_ms,identical,failure,frame,pictures,width,height,levels,"
      "copy_ms\n";
  const auto known = [](double value) { return value > 0 ? fmt::format("{:.6g}", value) : ""; };
  for (const SatRank& rank : comparison.ranks)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", rank.id, known(rank.sat_ms),
                        comparison.floor_ms > 0 ? known(rank.sat_ms / comparison.floor_ms) : "",
                        known(rank.detect_ms),
                        rank.failure.empty() ? rank.identical ? "true" : "false" : "",
                        csv_field(rank.failure), csv_field(comparison.source_name),
                        comparison.pictures, comparison.image.width, comparison.image.height,
                        comparison.levels, known(comparison.floor_ms));
  return text;
}

std::string comparison_page(const Comparison& comparison) {
  return lab::page_of(ComparisonReport(comparison), rows_of(comparison), lab::machine_json(), "");
}

}  // namespace facesat::app

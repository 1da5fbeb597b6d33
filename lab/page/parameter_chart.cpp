#include <algorithm>

#include <fmt/format.h>

#include "lab/page/chart.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"

namespace facesat::lab {
namespace {

constexpr double plot_height = 440;

// What a chart says about an algorithm's parameter.
struct Words {
  std::string name = "value", meaning = "the parameter";
};
Words words_of(const std::string& id, const ParameterWords& all) {
  const auto found = all.find(id);
  return found == all.end() ? Words{} : Words{found->second.first, found->second.second};
}

bool is_faster(const Row& a, const Row& b) {
  return a.median_us < b.median_us;
}

// Sizes are distinguished as algorithms are elsewhere: by colour, marker and dashes.
Look look_of(std::size_t size) {
  const int i = static_cast<int>(size);
  return {i % 8, i % 7, i / 8 % 4};
}

class ParameterChart {
 public:
  // `rows` have a time and a value.
  ParameterChart(const Rows& rows, const Words& words) : rows_(rows), words_(words) {
    const auto [least, greatest] = std::minmax_element(
        rows.begin(), rows.end(), [](const Row& a, const Row& b) { return *a.value < *b.value; });
    least_ = *least->value;
    greatest_ = *greatest->value;
  }

  std::string svg() const {
    std::string svg = "<g class=\"grid\">";
    for (const double tick : times_.ticks(9)) svg += level(y(tick), tick_text(tick));
    for (int i = 0; i <= 4; ++i) {
      const double value = least_ + (greatest_ - least_) * i / 4;
      svg += below(x(value), plot_height, fmt::format("{:.3g}", value));
    }
    svg += "</g>\n<g class=\"all\">\n";
    for (std::size_t i = 0; i < lines_.size(); ++i) svg += line(lines_[i], look_of(i));
    return svg + fmt::format(
                     "</g><text class=\"middle muted\" x=\"50%\" y=\"{:.0f}\" dy=\"38\">"
                     "{}, {}</text>\n",
                     plot_height, escaped(words_.name), escaped(words_.meaning));
  }

  // The legend: the marker of each size, and the fastest value.
  std::string key() const {
    std::string items;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Row& best = *std::min_element(lines_[i].begin(), lines_[i].end(), is_faster);
      items +=
          fmt::format("<li>{}{}: {} at {} = {:.3g}</li>\n", swatch(look_of(i)), size_text(best),
                      microseconds(best.median_us), escaped(words_.name), *best.value);
    }
    return fmt::format("<ul class=\"key\">\n{}</ul>", items);
  }

 private:
  double x(double value) const {  // with a margin of 2% on both sides
    return 0.02 + 0.96 * (value - least_) / (greatest_ - least_);
  }
  double y(double us) const { return plot_height * (1 - times_.at(us)); }

  std::string line(const Rows& of_size, const Look& look) const {
    Rows rows = of_size;
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return *a.value < *b.value; });
    return series(
        rows, look, [&](const Row& row) { return x(*row.value); },
        [&](const Row& row) { return y(row.median_us); });
  }

  const Rows& rows_;
  const Words& words_;
  double least_ = 0, greatest_ = 0;
  const std::vector<Rows> lines_ = by_size(rows_);
  const LogAxis times_ = axis_of(rows_, [](const Row& row) { return row.median_us; });
};

bool has_several_values(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return row.value != rows.front().value; });
}

}  // namespace

std::string parameter_charts(const Rows& all, const ParameterWords& all_words) {
  const Rows rows = filtered(all, [](const Row& row) { return row.value && row.median_us > 0; });
  std::string charts;
  for (const Rows& of_one : by_algorithm(rows)) {
    if (!has_several_values(of_one)) continue;
    const std::string id = of_one.front().algorithm();
    const Words words = words_of(id, all_words);
    const ParameterChart drawn(of_one, words);
    const std::string name = fmt::format("{}: time against {}", id, words.name);
    charts += fmt::format(
        "<h3>{}</h3>\n<p>One line for each size; the legend has the fastest value.</p>\n"
        "<div class=\"model\">\n{}{}</div>\n",
        escaped(name),
        chart("scatter values", 0, "<b>Microseconds</b>, logarithmic", plot_height, name,
              drawn.svg()),
        drawn.key());
  }
  return charts;
}

}  // namespace facesat::lab

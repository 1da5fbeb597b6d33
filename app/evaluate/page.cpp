#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/evaluate/crops.hpp"
#include "app/evaluate/curve_chart.hpp"
#include "app/evaluate/report.hpp"
#include "support/html.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

using html::escaped;

constexpr std::size_t most_shown = 48;    // misses, and false alarms, of a cascade
constexpr std::size_t most_points = 150;  // of a line in a chart
constexpr int longest_side = 112;         // pixels of a picture
constexpr std::string_view more_style = R"(
.curves .plot{padding:28px 2em 48px 4em}
.curves .plot text.left{font-size:11px}
.spot circle{fill:transparent}
.spot:hover circle{fill:currentColor}
.pictures{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1rem}
.pictures figure{margin:0;width:7rem}
.pictures .cut{position:relative;width:7rem;height:7rem;background:var(--rule);display:flex;align-items:center;justify-content:center}
.pictures .cut span{position:relative;display:inline-block;line-height:0}
.pictures .cut span::after{content:"";position:absolute;inset:25%;border:1px solid var(--box);outline:1px solid #0006}
details{margin-top:1.5rem}
summary{cursor:pointer}
.misses{--box:#ffd23f}
.alarms{--box:#ff5a4f}
.pictures figcaption{font-size:.6875rem;line-height:1.3;margin:.25rem 0 0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
)";

std::string percentage(double part) {
  return fmt::format("{:.1f} %", 100 * part);
}

// Each cascade has its colour and marker in all charts.
html::Look look_of(std::size_t cascade) {
  const int index = static_cast<int>(cascade);
  return {index % html::Look::colors, index % html::Look::markers, index / html::Look::colors % 4};
}

std::string summary_row(const CascadeResult& cascade, std::size_t index,
                        const Evaluation& evaluation) {
  const Rates rates = rates_of(cascade.counts, evaluation);
  std::string row = fmt::format("<tr><th scope=\"row\">{}<a href=\"#cascade-{}\">{}</a></th>",
                                html::swatch(look_of(index)), index, escaped(cascade.name));
  for (const std::string& cell :
       {fmt::format("{}x{}", cascade.window.width, cascade.window.height),
        fmt::format("{}", cascade.stages), html::figure(double(cascade.counts.found), 0),
        html::figure(double(evaluation.objects - cascade.counts.found), 0),
        percentage(rates.recall), html::figure(double(cascade.counts.false_alarms), 0),
        html::figure(rates.per_picture, 3), percentage(rates.precision),
        fmt::format("{:.4f}", cascade.average_precision)})
    row += fmt::format("<td>{}</td>", cell);
  return row + "</tr>\n";
}

std::string heads(const std::vector<std::string_view>& titles) {
  std::string html;
  for (const std::string_view title : titles)
    html += fmt::format("<th scope=\"col\">{}</th>", title);
  return html;
}

std::string summary(const Evaluation& evaluation) {
  std::string body = "<tbody>\n";
  for (std::size_t i = 0; i < evaluation.cascades.size(); ++i)
    body += summary_row(evaluation.cascades[i], i, evaluation);
  return html::table(heads({"cascade", "window", "stages", "found", "missed", "recall", "false",
                            "false per picture", "precision", "average precision"}),
                     body + "</tbody>\n");
}

std::string header(const Evaluation& evaluation, const EvaluateCommand& command,
                   const std::string& title) {
  std::string html = fmt::format("<header>\n<h1>{}</h1>\n<dl>\n", escaped(title));
  for (const auto& [name, text] :
       {std::pair<std::string_view, std::string>{"annotations", escaped(command.annotations)},
        {"evaluated", escaped(scope_of(evaluation, command))},
        {"command", fmt::format("<code>{}</code>", escaped(command.line))}})
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, text);
  return html + "</dl>\n" + summary(evaluation) + "</header>\n";
}

// ---- charts

const Curve* curve_by(const CascadeResult& cascade, Sweep sweep) {
  const auto found = std::ranges::find(cascade.curves, sweep, &Curve::sweep);
  return found == cascade.curves.end() ? nullptr : &*found;
}

std::string title_of(const CascadeResult& cascade, Sweep sweep, const Point& point,
                     const Evaluation& evaluation) {
  const Rates rates = rates_of(point.counts, evaluation);
  std::string text =
      fmt::format("{}, {} {:.6g}: {} of {} found ({}), {} false ({:.3g} per picture), precision {}",
                  cascade.name, name_of(sweep), point.value, point.counts.found, evaluation.objects,
                  percentage(rates.recall), point.counts.false_alarms, rates.per_picture,
                  percentage(rates.precision));
  if (point.window_rate)
    text += fmt::format("; {:.3g} of all windows are false", *point.window_rate);
  return text;
}

// A line for each cascade, whose points are at place(point, rates).
template <class Place>
std::vector<DrawnCurve> lines_of(const Evaluation& evaluation, Sweep sweep, const Place& place) {
  std::vector<DrawnCurve> lines;
  for (std::size_t i = 0; i < evaluation.cascades.size(); ++i) {
    const CascadeResult& cascade = evaluation.cascades[i];
    const Curve* curve = curve_by(cascade, sweep);
    if (!curve) continue;
    DrawnCurve line{.look = look_of(i), .points = {}};
    line.has_markers = sweep == Sweep::neighbors || sweep == Sweep::stages;
    for (const Point& point : thinned(curve->points, most_points)) {
      const auto [x, y] = place(point, rates_of(point.counts, evaluation));
      line.points.push_back({x, y, title_of(cascade, sweep, point, evaluation)});
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Of the points without false alarms, only the one that finds the most: a logarithmic axis has them
// all in one place.
std::vector<DrawnCurve> without_low_zeros(std::vector<DrawnCurve> lines) {
  for (DrawnCurve& line : lines) {
    const auto zero = [](const CurvePoint& point) { return point.x <= 0; };
    const auto best = std::ranges::max_element(
        line.points, {}, [&](const CurvePoint& point) { return zero(point) ? point.y : -1; });
    if (best == line.points.end() || !zero(*best)) continue;
    const double y = best->y;
    std::erase_if(line.points, [&](const CurvePoint& point) { return zero(point) && point.y < y; });
  }
  return lines;
}

std::string charts(const Evaluation& evaluation) {
  const CurveAxis recall{"recall", false, true}, precision{"precision", false, true};
  const CurveAxis alarms{"false alarms per picture", true, false};
  const CurveAxis windows{"part of all windows that are falsely accepted", true, false};
  const auto froc = [](const Point&, const Rates& rates) {
    return std::pair(rates.per_picture, rates.recall);
  };
  const auto precision_recall = [](const Point&, const Rates& rates) {
    return std::pair(rates.recall, rates.precision);
  };
  const auto roc = [](const Point& point, const Rates& rates) {
    return std::pair(point.window_rate.value_or(0), rates.recall);
  };
  const auto over_value = [](double Rates::*rate) {
    return [rate](const Point& point, const Rates& rates) {
      return std::pair(point.value, rates.*rate);
    };
  };
  const auto lines = [&](Sweep sweep, const auto& place) {
    return lines_of(evaluation, sweep, place);
  };
  const CurveAxis stages{"stages"};
  const auto windows_over_stages = [](const Point& point, const Rates&) {
    return std::pair(point.value, point.window_rate.value_or(0));
  };
  return "<section>\n<h2>Curves</h2>\n<div class=\"panels\">\n" +
         curve_chart(
             "<b>FROC by number of neighbours</b>: each point is a --min-neighbors, from 0 "
             "at the right",
             alarms, recall, without_low_zeros(lines(Sweep::neighbors, froc))) +
         curve_chart("<b>Precision and recall by number of neighbours</b>", recall, precision,
                     lines(Sweep::neighbors, precision_recall)) +
         curve_chart(
             "<b>FROC by score</b>: faces whose scores are above a threshold, as "
             "--min-score",
             alarms, recall, without_low_zeros(lines(Sweep::score, froc))) +
         curve_chart("<b>Precision and recall by score</b>", recall, precision,
                     lines(Sweep::score, precision_recall)) +
         curve_chart(
             "<b>ROC over windows</b>: windows before grouping whose scores are above a "
             "threshold; an object is found if one of them is right",
             windows, recall, without_low_zeros(lines(Sweep::windows, roc))) +
         curve_chart("<b>Recall by number of stages</b>", stages, recall,
                     lines(Sweep::stages, over_value(&Rates::recall))) +
         curve_chart("<b>False alarms by number of stages</b>", stages,
                     {"false alarms per picture", true, false},
                     lines(Sweep::stages, over_value(&Rates::per_picture))) +
         curve_chart(
             "<b>Windows by number of stages</b>: the part of all windows that the first "
             "stages falsely accept",
             stages, {"part of all windows", true, false},
             lines(Sweep::stages, windows_over_stages)) +
         "</div>\n</section>\n";
}

// ---- a cascade by itself

std::string points_table(const Curve& curve, const Evaluation& evaluation) {
  std::string body = "<tbody>\n";
  for (const Point& point : thinned(curve.points, 40)) {
    const Rates rates = rates_of(point.counts, evaluation);
    body += fmt::format(
        "<tr><td>{:.6g}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "</tr>\n",
        point.value, point.counts.found, evaluation.objects - point.counts.found,
        percentage(rates.recall), point.counts.false_alarms, html::figure(rates.per_picture, 3),
        percentage(rates.precision));
  }
  return html::table(heads({name_of(curve.sweep), "found", "missed", "recall", "false",
                            "false per picture", "precision"}),
                     body + "</tbody>\n");
}

struct Shown {
  CutOut box;
  std::string caption;
  std::string more;  // shown when the pointer is over it
};

Rect pixels_of(const training::Box& box) {
  const auto rounded = [](double number) { return static_cast<int>(std::lround(number)); };
  return {rounded(box.x), rounded(box.y), std::max(1, rounded(box.width)),
          std::max(1, rounded(box.height))};
}

// The largest objects that were missed.
std::vector<Shown> shown_misses(std::vector<Miss> misses) {
  std::ranges::stable_sort(misses, std::greater(),
                           [](const Miss& miss) { return miss.box.width * miss.box.height; });
  misses.resize(std::min(misses.size(), most_shown));
  std::vector<Shown> shown;
  for (const auto& [picture, box] : misses)
    shown.push_back(
        {{picture, pixels_of(box)}, fmt::format("{:g}×{:g}", box.width, box.height), ""});
  return shown;
}

std::string windows_of(const Face& face) {
  return plural(static_cast<std::size_t>(face.neighbors), "window");
}

// The false alarms of the most windows.
std::vector<Shown> shown_alarms(std::vector<FalseAlarm> alarms) {
  std::ranges::stable_sort(alarms, std::greater(), [](const FalseAlarm& alarm) {
    return std::pair(alarm.face.neighbors, alarm.face.score);
  });
  alarms.resize(std::min(alarms.size(), most_shown));
  std::vector<Shown> shown;
  for (const auto& [picture, face] : alarms)
    shown.push_back({{picture, face.box},
                     windows_of(face),
                     fmt::format(", {}, score {:.3f}", windows_of(face), face.score)});
  return shown;
}

// Small cuts are enlarged.
std::string image_of(const Cut& cut, const std::string& description) {
  if (cut.uri.empty()) return "";
  const double scale =
      static_cast<double>(longest_side) / std::max(cut.size.width, cut.size.height);
  return fmt::format(
      "<span><img src=\"{}\" width=\"{:.0f}\" height=\"{:.0f}\" alt=\"{}\" /></span>", cut.uri,
      scale * cut.size.width, scale * cut.size.height, description);
}

std::string pictures_of(const std::string& kind, const std::vector<Shown>& shown,
                        const std::vector<TestPicture>& pictures) {
  std::vector<CutOut> boxes;
  for (const Shown& one : shown) boxes.push_back(one.box);
  const std::vector<Cut> cuts = cut_out(pictures, boxes, longest_side);
  std::string html = fmt::format("<div class=\"pictures {}\">\n", kind);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto& [box, caption, more] = shown[i];
    const std::string name = escaped(pictures[box.picture].annotated.name);
    const std::string where = fmt::format("{} at {}, {}: {}×{}{}", name, box.box.x, box.box.y,
                                          box.box.width, box.box.height, more);
    html += fmt::format(
        "<figure title=\"{}\"><div class=\"cut\">{}</div><figcaption>{}<br />{}</figcaption>"
        "</figure>\n",
        where, image_of(cuts[i], where), caption, name);
  }
  return html + "</div>\n";
}

std::string how_many(std::size_t shown, std::size_t all, std::string_view which) {
  return shown < all ? fmt::format("the {} {} of {}", shown, which, all) : fmt::format("{}", all);
}

std::string section(const CascadeResult& cascade, std::size_t index, const Evaluation& evaluation,
                    const std::vector<TestPicture>& pictures) {
  std::string html = fmt::format(
      "<section id=\"cascade-{}\">\n<h2>{} <small>window {}×{}, {} stages</small></h2>\n", index,
      escaped(cascade.name), cascade.window.width, cascade.window.height, cascade.stages);
  const std::vector<Shown> misses = shown_misses(cascade.misses);
  const std::vector<Shown> alarms = shown_alarms(cascade.false_alarms);
  if (!misses.empty())
    html += fmt::format("<h3>Missed objects: {}</h3>\n",
                        how_many(misses.size(), cascade.misses.size(), "largest")) +
            pictures_of("misses", misses, pictures);
  if (!alarms.empty())
    html +=
        fmt::format("<h3>False alarms: {}</h3>\n",
                    how_many(alarms.size(), cascade.false_alarms.size(), "of the most windows,")) +
        pictures_of("alarms", alarms, pictures);
  for (const Sweep sweep : {Sweep::neighbors, Sweep::score, Sweep::windows, Sweep::stages})
    if (const Curve* curve = curve_by(cascade, sweep))
      html += fmt::format("<details><summary>Figures by {}</summary>\n{}</details>\n",
                          name_of(sweep), points_table(*curve, evaluation));
  return html + "</section>\n";
}

}  // namespace

std::string page_of(const Evaluation& evaluation, const EvaluateCommand& command,
                    const std::vector<TestPicture>& pictures) {
  const std::string title =
      evaluation.cascades.size() == 1
          ? "Evaluation of " + evaluation.cascades.front().name
          : fmt::format("Evaluation of {} cascades", evaluation.cascades.size());
  std::string body = header(evaluation, command, title) + charts(evaluation);
  for (std::size_t i = 0; i < evaluation.cascades.size(); ++i)
    body += section(evaluation.cascades[i], i, evaluation, pictures);
  return html::document(title, body, json_of(evaluation, command, pictures), more_style);
}

}  // namespace facesat::app

#include "app/info.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tbb/version.h>

#include "app/live/live.hpp"
#include "app/train/training_log.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/device/gpu_info.hpp"
#include "kernels/sat/algorithm.hpp"
#include "kernels/scan/algorithm.hpp"
#include "media/codec.hpp"
#include "media/frame_source.hpp"
#include "support/messages.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

std::string size_text(Size size) {
  return fmt::format("{}x{}", size.width, size.height);
}

// All cascades that can be loaded; a damaged file does not hide the others.
std::vector<std::shared_ptr<const Cascade>> loadable_cascades() {
  std::vector<std::shared_ptr<const Cascade>> cascades;
  for (const std::string& name : cascade_names()) {
    try {
      cascades.push_back(find_cascade(name));
    } catch (const CascadeError&) {  // left out
    }
  }
  return cascades;
}

Json build_json() {
  return {{"compiler", __VERSION__},
          {"pictures", codec_name()},
          {"videos", !video_extensions().empty()},
          {"window", has_window()},
          {"threads", fmt::format("oneTBB {}.{}", TBB_VERSION_MAJOR, TBB_VERSION_MINOR)},
          {"cuda", gpu::is_built_in()}};
}

Json devices_json() {
  Json devices = Json::array();
  for (const DeviceInfo& d : gpu::devices())
    devices.push_back({{"id", d.id},
                       {"name", d.name},
                       {"compute_capability", d.compute_capability},
                       {"memory_bytes", d.memory_bytes}});
  return devices;
}

Json sat_json() {
  Json algorithms = Json::array();
  std::vector<std::string_view> types;
  for (const gpu::SatTypeInfo& type : gpu::sat_types) types.push_back(type.name);
  for (const gpu::SatAlgorithm* a : gpu::sat_algorithms()) {
    algorithms.push_back({{"id", a->id},
                          {"title", a->title},
                          {"paper", a->source},
                          {"year", a->year},
                          {"types", types},
                          {"reads", a->reads},
                          {"writes", a->writes},
                          {"launches", a->launches}});
    if (const gpu::SatParameter* const p = a->parameter)
      algorithms.back()["parameter"] = {{"name", p->name},
                                        {"meaning", p->meaning},
                                        {"least", p->least},
                                        {"greatest", p->greatest},
                                        {"default", a->value}};
  }
  return algorithms;
}

Json scan_json() {
  Json algorithms = Json::array();
  for (const gpu::ScanAlgorithm* a : gpu::scan_algorithms()) {
    Json parameters = Json::array();
    for (const gpu::ScanParameter& p : a->parameters)
      parameters.push_back({{"name", p.name},
                            {"meaning", p.meaning},
                            {"choices", p.choices},
                            {"default", p.standard}});
    algorithms.push_back({{"id", a->id},
                          {"title", a->title},
                          {"paper", a->source},
                          {"year", a->year},
                          {"parameters", parameters}});
  }
  return algorithms;
}

Json backends_json() {
  Json backends{"cpu"};
  if (!gpu::devices().empty()) backends.push_back("cuda");
  return backends;
}

std::string sat_text() {
  std::string text;
  for (const gpu::SatAlgorithm* a : gpu::sat_algorithms()) {
    text += fmt::format("  {:<10} {:<28} {}\n", text.empty() ? "sat" : "", a->id, a->title);
    if (const gpu::SatParameter* const p = a->parameter)
      text += fmt::format("  {:<10}   {}:{} {}, from {} to {} [{}]\n", "", a->id, p->name,
                          p->meaning, p->least, p->greatest, a->value);
  }
  return text;
}

// The values of parameters are in the JSON only.
std::string scan_text() {
  std::string text;
  for (const gpu::ScanAlgorithm* a : gpu::scan_algorithms()) {
    std::vector<std::string_view> names;
    for (const gpu::ScanParameter& p : a->parameters) names.push_back(p.name);
    text += fmt::format("  {:<10} {:<28} {}{}\n", text.empty() ? "scan" : "", a->id, a->title,
                        names.empty() ? "" : fmt::format(" [{}]", fmt::join(names, ", ")));
  }
  return text;
}

std::string devices_text() {
  std::string why_none, text;
  for (const DeviceInfo& d : gpu::devices(&why_none))
    text += fmt::format("  device {:<3} {}, compute capability {}, {:.0f} GiB\n", d.id, d.name,
                        d.compute_capability, static_cast<double>(d.memory_bytes) / (1ull << 30));
  return text.empty() ? fmt::format("  devices    none: {}\n", why_none) : text;
}

// What facesat train has noted of the stages of a cascade, beside its file: a row of text for each,
// and the titles. Empty if it has noted nothing.
struct TrainingNotes {
  std::string titles;
  std::map<int, std::string> rows;
};

TrainingNotes training_notes(const std::string& file, const Cascade& cascade) {
  constexpr std::string_view row = "{:>10} {:>13} {:>13} {:>14}";
  const auto text = [](double rate) { return fmt::format("{:.4f}", rate); };
  TrainingNotes notes;
  TrainingLog log(log_of_training(file));
  log.read();
  for (int i = 0; i < std::min(std::ssize(log.stages()), std::ssize(cascade.stages)); ++i) {
    const LoggedStage& stage = log.stages()[i];
    // Another cascade may have taken the file's place.
    if (!stage.is_complete || stage.trees != cascade.stages[i].tree_count) continue;
    const auto& held_out = stage.held_out;
    notes.rows[i] = fmt::format(row, text(stage.rates.hit_rate), text(stage.rates.false_alarm),
                                held_out ? text(held_out->hit_rate) : "-",
                                held_out ? text(held_out->false_alarm) : "-");
  }
  if (!notes.rows.empty())
    notes.titles = fmt::format(row, "hit rate", "false alarms", "held-out hits", "held-out false");
  return notes;
}

}  // namespace

std::string info_json() {
  Json cascades = Json::array();
  for (const auto& c : loadable_cascades())
    cascades.push_back({{"name", c->name},
                        {"kind", name_of(c->kind)},
                        {"window", size_text(c->window)},
                        {"stages", c->stages.size()},
                        {"features", c->feature_count()}});
  const Json info{{"version", FACESAT_VERSION},  {"build", build_json()},
                  {"backends", backends_json()}, {"devices", devices_json()},
                  {"sat", sat_json()},           {"scan", scan_json()},
                  {"cascades", cascades}};
  return info.dump(2) + "\n";
}

std::string info_text() {
  return fmt::format(
      "facesat {}\n"
      "  compiler   {}\n"
      "  pictures   {}{}\n"
      "  window     {}\n"
      "  threads    oneTBB {}.{}\n"
      "  backends   cpu{}\n"
      "{}{}{}"
      "  cascades   {} ('facesat cascades' lists them)\n",
      FACESAT_VERSION, __VERSION__, codec_name(),
      video_extensions().empty() ? ", no videos" : ", videos too",
      has_window() ? "'facesat live'" : "none", TBB_VERSION_MAJOR, TBB_VERSION_MINOR,
      gpu::devices().empty() ? "" : ", cuda", devices_text(), sat_text(), scan_text(),
      cascade_names().size());
}

std::string cascade_list() {
  std::string table = fmt::format("{:<34} {:<5} {:>7} {:>7} {:>9}\n", "name", "kind", "window",
                                  "stages", "features");
  for (const auto& c : loadable_cascades())
    table += fmt::format("{:<34} {:<5} {:>7} {:>7} {:>9}\n", printable(c->name), name_of(c->kind),
                         size_text(c->window), c->stages.size(), c->feature_count());
  return table;
}

std::string cascade_details(const std::string& name) {
  const auto c = find_cascade(name);
  for (const std::string& warning : c->warnings) say_line("facesat: " + warning);
  const auto tilted =
      std::count_if(c->haar.begin(), c->haar.end(), [](const HaarFeature& f) { return f.tilted; });
  TrainingNotes notes = training_notes(name, *c);
  std::string text = fmt::format(
      "{}\n  kind      {}{}\n  window    {}\n  stages    {}\n  trees     {}\n  nodes     {}\n  "
      "features  {}{}\n\n"
      "{:>5} {:>6} {:>6} {:>12}{}\n",
      printable(c->name), name_of(c->kind), c->is_stumps() ? ", stumps" : ", trees",
      size_text(c->window), c->stages.size(), c->trees.size(), c->nodes.size(), c->feature_count(),
      tilted > 0 ? fmt::format(" ({} tilted)", tilted) : "", "stage", "trees", "nodes", "threshold",
      notes.titles);
  for (std::size_t i = 0; i < c->stages.size(); ++i) {
    const Stage& stage = c->stages[i];
    int nodes = 0;
    for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t)
      nodes += c->trees[t].node_count;
    text += fmt::format("{:>5} {:>6} {:>6} {:>12.6f}{}\n", i, stage.tree_count, nodes,
                        stage.threshold, notes.rows[static_cast<int>(i)]);
  }
  return text;
}

}  // namespace facesat::app

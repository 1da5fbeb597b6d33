#include "app/live/settings_file.hpp"

#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "app/live/panels/panel.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json to_json(const Rect& r) {
  return {r.x, r.y, r.width, r.height};
}
Rect to_rect(const Json& json) {
  return {json.at(0).get<int>(), json.at(1).get<int>(), json.at(2).get<int>(),
          json.at(3).get<int>()};
}

Remembered from_json(const Json& json, Panels& panels) {
  Remembered r;
  for (const auto& panel : panels) panel->recall(json, r);
  r.side_width = json.value("side_width", r.side_width);
  r.recent = json.value("recent", r.recent);
  if (json.contains("window")) r.window = to_rect(json.at("window"));
  return r;
}

}  // namespace

fs::path settings_file() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder)
    return fs::path(folder) / "facesat" / "live.json";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".config" / "facesat" / "live.json";
  return {};
}

Remembered read_settings(const fs::path& file, const Remembered& otherwise, Panels& panels) {
  std::ifstream in(file);
  if (!in) return otherwise;
  try {
    Remembered remembered = from_json(Json::parse(in), panels);
    if (remembered.settings.cascades.empty())
      remembered.settings.cascades = otherwise.settings.cascades;
    return remembered;
  } catch (const Json::exception&) {
  } catch (const Error&) {
  }
  panels = make_panels();
  return otherwise;
}

void write_settings(const fs::path& file, const Remembered& remembered, const Panels& panels) {
  Json json;
  for (const auto& panel : panels) panel->remember(remembered, json);
  json["side_width"] = remembered.side_width;
  json["window"] = to_json(remembered.window);
  json["recent"] = remembered.recent;
  make_folder(file.parent_path());
  write_text(file, json.dump(2) + "\n");
}

}  // namespace facesat::app

#include "app/live/settings_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cascades/cascade_store.hpp"
#include "kernels/device/gpu_info.hpp"
#include "kernels/sat/algorithm.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json to_json(Size size) {
  return {size.width, size.height};
}
Size to_size(const Json& json) {
  return {json.at(0).get<int>(), json.at(1).get<int>()};
}
Json to_json(const Rect& r) {
  return {r.x, r.y, r.width, r.height};
}
Rect to_rect(const Json& json) {
  return {json.at(0).get<int>(), json.at(1).get<int>(), json.at(2).get<int>(),
          json.at(3).get<int>()};
}

Json to_json(const FilterChoice& choice) {
  const PictureFilterSettings& filter = choice.filter;
  return {{"kind", filter_names[static_cast<std::size_t>(filter.kind)]},
          {"radius", filter.radius},
          {"border", name_of(filter.border)},
          {"offset", filter.offset},
          {"algorithm", filter.algorithm},
          {"compared", choice.compared}};
}

// The index of a name in an array of names; an unknown name counts as the value `otherwise`.
template <class Value, class Names>
Value value_of(const std::string& name, const Names& names, Value otherwise) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? otherwise : static_cast<Value>(found - names.begin());
}

// Algorithms that do not exist any more are ignored by FilterView.
FilterChoice to_filter_choice(const Json& json) {
  FilterChoice choice;
  PictureFilterSettings& filter = choice.filter;
  filter.kind = value_of(json.at("kind").get<std::string>(), filter_names, filter.kind);
  filter.radius = std::clamp(json.at("radius").get<int>(), 1, largest_radius(filter.kind));
  filter.border = value_of(json.at("border").get<std::string>(), border_names, filter.border);
  filter.offset = std::clamp(json.at("offset").get<int>(), -largest_offset, largest_offset);
  filter.algorithm = json.at("algorithm").get<std::string>();
  choice.compared = json.at("compared").get<std::string>();
  return choice;
}

Remembered from_json(const Json& json) {
  Remembered r;
  LiveSettings& s = r.settings;
  s.backend.choice = json.at("backend") == "cpu"    ? BackendChoice::cpu
                     : json.at("backend") == "cuda" ? BackendChoice::cuda
                                                    : BackendChoice::automatic;
  s.backend.device = json.at("device").get<std::string>();
  s.backend.sat = json.at("sat").get<std::string>();
  s.cascades = json.at("cascades").get<std::vector<std::string>>();
  s.detect.scale_factor = json.at("scale_factor").get<double>();
  s.detect.min_neighbors = json.at("min_neighbors").get<int>();
  s.detect.min_size = to_size(json.at("min_size"));
  s.detect.max_size = to_size(json.at("max_size"));
  s.detect.scan = json.at("scan") == "dense" ? Scan::dense : Scan::opencv;
  s.detect.equalize = json.at("equalize").get<bool>();
  if (json.contains("inside_of"))
    s.inside_of = json.at("inside_of").get<std::string>();
  else if (json.at("inside").get<bool>() && !s.cascades.empty())  // as earlier versions wrote it
    s.inside_of = s.cascades.front();
  if (json.contains("filter")) s.filter = to_filter_choice(json.at("filter"));
  r.dark = json.at("dark").get<bool>();
  r.labels = json.at("labels").get<bool>();
  r.font_size = json.value("font_size", r.font_size);
  r.side_width = json.value("side_width", r.side_width);
  r.recent = json.value("recent", r.recent);
  if (json.contains("window")) r.window = to_rect(json.at("window"));
  return r;
}

// Drops cascades, algorithms and devices that existed when they were chosen and do not exist now.
void keep_usable(LiveSettings& settings) {
  std::erase_if(settings.cascades, [](const std::string& name) {
    try {
      find_cascade(name);
      return false;
    } catch (const Error&) {
      return true;
    }
  });
  BackendOptions& backend = settings.backend;
  const auto devices = gpu::devices();
  if (!gpu::choose_sat(backend.sat).algorithm) backend.sat.clear();
  if (!devices.empty() &&
      std::none_of(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
        return std::to_string(device.id) == backend.device;
      }))
    backend.device = BackendOptions().device;
  if (devices.empty() && backend.choice == BackendChoice::cuda)
    backend.choice = BackendChoice::automatic;
}

}  // namespace

fs::path settings_file() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder)
    return fs::path(folder) / "facesat" / "live.json";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".config" / "facesat" / "live.json";
  return {};
}

Remembered read_settings(const fs::path& file, const Remembered& otherwise) {
  std::ifstream in(file);
  if (!in) return otherwise;
  try {
    Remembered remembered = from_json(Json::parse(in));
    check(remembered.settings.detect);
    keep_usable(remembered.settings);
    if (remembered.settings.cascades.empty())
      remembered.settings.cascades = otherwise.settings.cascades;
    return remembered;
  } catch (const Json::exception&) {
  } catch (const Error&) {
  }
  return otherwise;
}

void write_settings(const fs::path& file, const Remembered& remembered) {
  const LiveSettings& s = remembered.settings;
  const char* backend = s.backend.choice == BackendChoice::cpu    ? "cpu"
                        : s.backend.choice == BackendChoice::cuda ? "cuda"
                                                                  : "auto";
  const std::string text = Json{{"backend", backend},
                                {"device", s.backend.device},
                                {"sat", s.backend.sat},
                                {"cascades", s.cascades},
                                {"scale_factor", s.detect.scale_factor},
                                {"min_neighbors", s.detect.min_neighbors},
                                {"min_size", to_json(s.detect.min_size)},
                                {"max_size", to_json(s.detect.max_size)},
                                {"scan", s.detect.scan == Scan::dense ? "dense" : "opencv"},
                                {"equalize", s.detect.equalize},
                                {"inside_of", s.inside_of},
                                {"filter", to_json(s.filter)},
                                {"dark", remembered.dark},
                                {"labels", remembered.labels},
                                {"font_size", remembered.font_size},
                                {"side_width", remembered.side_width},
                                {"window", to_json(remembered.window)},
                                {"recent", remembered.recent}}
                               .dump(2) +
                           "\n";
  make_folder(file.parent_path());
  write_file(file, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

}  // namespace facesat::app

#include "lab/files.hpp"

#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/device/gpu_info.hpp"
#include "support/files.hpp"

namespace facesat::lab {
namespace {

using Json = nlohmann::ordered_json;

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);  // after ": "
  return "unknown";
}

// Was this file written by write_table()?
bool is_table(const std::string& file) {
  std::ifstream in(file);
  const Json table = Json::parse(in, nullptr, false);
  return table.is_object() && keys_of(table) == "machine rows " && table["rows"].is_array() &&
         table["machine"].is_object() && keys_of(table["machine"]) == keys_of(machine_json());
}

}  // namespace

Json machine_json() {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  Json gpus = Json::array();
  for (const DeviceInfo& device : gpu::devices()) gpus.push_back(device.name);
  return {{"cpu", cpu_model()},
          {"cores", std::thread::hardware_concurrency()},
          {"gpus", gpus},
          {"compiler", __VERSION__},
          {"date", date}};
}

void require_writable_table(const std::string& file) {
  if (file.empty()) return;
  require_writable(file);
  if (has_contents(file) && !is_table(file)) refuse_foreign(file);
}

void write_table(const std::string& file, const Json& rows) {
  write_text(file, Json{{"machine", machine_json()}, {"rows", rows}}.dump(2) + "\n");
}

}  // namespace facesat::lab

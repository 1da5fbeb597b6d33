#include "app/bench/machine.hpp"

#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "app/io/files.hpp"
#include "kernels/gpu_info.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

Json machine_json() {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  Json gpus = Json::array();
  for (const gpu::DeviceInfo& device : gpu::devices()) gpus.push_back(device.name);
  return {{"cpu", cpu_model()},
          {"cores", std::thread::hardware_concurrency()},
          {"gpus", gpus},
          {"compiler", __VERSION__},
          {"date", date}};
}

void write_table(const std::string& file, const Json& rows) {
  write_text(file, Json{{"machine", machine_json()}, {"rows", rows}}.dump(2) + "\n");
}

}  // namespace facesat::app

#include "app/bench/bench_sat.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/bench/machine.hpp"
#include "app/errors.hpp"
#include "app/io/files.hpp"
#include "app/parse_size.hpp"
#include "kernels/bench/sat_bench.hpp"
#include "kernels/gpu_info.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int largest_side = 32768;

std::string known_ids() {
  std::string text;
  for (const gpu::SatInfo& sat : gpu::sat_infos()) text += (text.empty() ? "" : ", ") + sat.id;
  return text;
}

// The ids asked for, in the registry's order.
std::vector<std::string> chosen_ids(const std::vector<std::string>& asked) {
  const auto is_asked = [&](const std::string& id) {
    return asked.empty() || std::find(asked.begin(), asked.end(), id) != asked.end();
  };
  std::vector<std::string> ids;
  for (const gpu::SatInfo& sat : gpu::sat_infos())
    if (is_asked("all") || is_asked(sat.id)) ids.push_back(sat.id);
  for (const std::string& id : asked)
    if (id != "all" && std::find(ids.begin(), ids.end(), id) == ids.end())
      throw UsageError(
          fmt::format("--algorithm {}: there is no such algorithm; known are {}", id, known_ids()));
  return ids;
}

std::vector<std::string> chosen_types(const std::vector<std::string>& asked) {
  const std::vector<std::string> known = gpu::sat_type_names();
  for (const std::string& type : asked)
    if (std::find(known.begin(), known.end(), type) == known.end())
      throw UsageError(fmt::format("--type {}: there is no such type; known are {}", type,
                                   fmt::join(known, ", ")));
  return asked;
}

std::vector<Size> chosen_sizes(const std::vector<std::string>& asked) {
  std::vector<Size> sizes;
  for (const std::string& text : asked) {
    const Size size = parse_size(text);
    if (size.width < 1 || size.height < 1 || size.width > largest_side ||
        size.height > largest_side)
      throw UsageError(fmt::format("--size {}: sides are from 1 to {}", text, largest_side));
    sizes.push_back(size);
  }
  return sizes;
}

void print_title() {
  write_all(1,
            fmt::format("{:<30} {:<8} {:>11} {:>10} {:>10} {:>10} {:>8} {:>7}\n", "algorithm",
                        "type", "size", "median us", "min", "p95", "GB/s", "ratio"),
            "standard output");
}

void print_row(const Json& row) {
  const auto number = [&](const char* key) { return row[key].get<double>(); };
  std::string line = fmt::format(
      "{:<30} {:<8} {:>11} ", row["id"].get<std::string>(), row["type"].get<std::string>(),
      fmt::format("{}x{}", row["width"].get<int>(), row["height"].get<int>()));
  if (row.contains("failure"))
    line += row["failure"].get<std::string>();
  else
    line += fmt::format("{:>10.2f} {:>10.2f} {:>10.2f} {:>8.0f} {:>7.2f}", number("median_us"),
                        number("min_us"), number("p95_us"), number("gb_per_s"), number("ratio"));
  if (row.contains("checked")) line += row["checked"].get<bool>() ? "  checked" : "  WRONG";
  write_all(1, line + "\n", "standard output");
}

// Floor and copy have no tables to be checked.
Json to_row(const gpu::SatBenchRow& measured, const gpu::SatBenchTask& task, double floor_us) {
  Json row{{"id", measured.id},
           {"type", task.type},
           {"squares", task.squares},
           {"width", task.size.width},
           {"height", task.size.height}};
  if (!measured.failure.empty()) {
    row["failure"] = measured.failure;
    return row;
  }
  row["median_us"] = measured.median_us;
  row["min_us"] = measured.min_us;
  row["p95_us"] = measured.p95_us;
  row["floor_us"] = floor_us;
  row["ratio"] = measured.median_us / floor_us;
  row["gb_per_s"] = measured.bytes / measured.median_us / 1000;
  if (measured.id != "floor" && measured.id != "memcpy") row["checked"] = measured.checked;
  return row;
}

void bench(const gpu::SatBenchTask& task, Json& rows) {
  double floor_us = 0;
  gpu::bench_sats(task, [&](const gpu::SatBenchRow& measured) {
    if (measured.id == "floor") floor_us = measured.median_us;
    Json row = to_row(measured, task, floor_us);
    print_row(row);
    rows.push_back(std::move(row));
  });
}

}  // namespace

CLI::App* add_bench_sat(CLI::App& bench, BenchSatCommand& command) {
  CLI::App* sat = bench.add_subcommand("sat", "SAT algorithms: microseconds a table");
  const auto repeatable = [](CLI::Option* option) { option->expected(1)->take_all(); };
  repeatable(sat->add_option("--algorithm", command.algorithms,
                             "As 'facesat info' lists them, or all; repeatable [all]")
                 ->type_name("ID"));
  repeatable(sat->add_option("--type", command.types,
                             "Of picture and table: 8u32s, 8u32u, 8u32f, 32s32s, 32u32u, 32f32f, "
                             "64f64f; repeatable [8u32s]")
                 ->type_name("TYPE"));
  repeatable(sat->add_option("--size", command.sizes,
                             "Repeatable [1024x1024, 1280x720, 1920x1080, 3840x2160, 4096x4096]")
                 ->type_name("WxH"));
  sat->add_flag("--squares", command.squares, "The table of the squares, too (8-bit pictures)");
  sat->add_option("--device", command.device, "As 'facesat info' numbers them [0]")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  sat->add_option("--runs", command.runs, "That are timed, for each row [31]")
      ->type_name("N")
      ->check(CLI::Range(1, 100000).description(""));
  sat->add_option("--json", command.json, "Write the table there too")->type_name("FILE");
  sat->final_callback([&command] {
    if (command.types.empty()) command.types = {"8u32s"};
    if (command.sizes.empty())
      command.sizes = {"1024x1024", "1280x720", "1920x1080", "3840x2160", "4096x4096"};
  });
  return sat;
}

int run_bench_sat(const BenchSatCommand& command) {
  const std::vector<Size> sizes = chosen_sizes(command.sizes);
  std::string why_none;
  const auto devices = gpu::devices(&why_none);
  if (devices.empty()) throw UsageError(fmt::format("SAT algorithms run on a GPU: {}", why_none));
  if (command.device >= static_cast<int>(devices.size()))
    throw UsageError(fmt::format("--device {}: there is no such device; 'facesat info' lists them",
                                 command.device));
  const std::vector<std::string> ids = chosen_ids(command.algorithms);
  Json rows = Json::array();
  print_title();
  for (const std::string& type : chosen_types(command.types))
    for (const Size size : sizes)
      bench({type, size, command.squares && type.starts_with("8u"), ids, command.device,
             command.runs},
            rows);
  if (!command.json.empty()) write_table(command.json, rows);
  const bool all_right = std::none_of(rows.begin(), rows.end(), [](const Json& row) {
    return row.contains("failure") || (row.contains("checked") && !row["checked"].get<bool>());
  });
  return all_right ? 0 : 1;
}

}  // namespace facesat::app

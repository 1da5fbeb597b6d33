#include "app/detect/layout.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

#include "cascades/cascade_store.hpp"
#include "support/files.hpp"

namespace facesat::app {
namespace {

// The checksum of a cascade's file, which distinguishes different cascades of the same name.
std::uint64_t fingerprint(const std::string& cascade) {
  std::string xml(embedded_cascade());
  if (cascade != default_cascade_name || names_file(cascade)) {
    const auto bytes = read_file(cascade_file(cascade).value_or(cascade));
    xml.assign(bytes.begin(), bytes.end());
  }
  return checksum(xml);
}

}  // namespace

Layout layout_of(const DetectCommand& command,
                 const std::vector<std::shared_ptr<const Cascade>>& cascades) {
  Layout layout{command.format, {}, command.csv_safe};
  for (std::size_t i = 0; i < cascades.size(); ++i) {
    const auto has_its_name = [&](const auto& other) { return other->name == cascades[i]->name; };
    const bool is_clear = std::count_if(cascades.begin(), cascades.end(), has_its_name) == 1;
    layout.cascades.push_back(is_clear ? cascades[i]->name : command.cascades[i]);
  }
  return layout;
}

ResultOptions result_options(const DetectCommand& command, const Layout& layout) {
  std::string cascades;
  for (std::size_t i = 0; i < layout.cascades.size(); ++i)
    cascades += fmt::format("{}{} (checksum {:016x})", i == 0 ? "" : ", ", layout.cascades[i],
                            fingerprint(command.cascades[i]));
  const auto text = [](Size size) { return fmt::format("{}x{}", size.width, size.height); };
  const auto folder = [](const std::string& name) -> std::string {
    if (name.empty()) return "none";
    const std::filesystem::path path = std::filesystem::absolute(name).lexically_normal();
    return path.has_filename() ? path : path.parent_path();  // "a/" is the same as "a"
  };
  const DetectOptions& detect = command.detect;
  ResultOptions options{{"--format", command.format == Format::csv ? "csv" : "jsonl"},
                        {"--csv-safe", command.csv_safe ? "on" : "off"},
                        {"--cascade", cascades},
                        {"--scale-factor", fmt::format("{}", detect.scale_factor)},
                        {"--min-neighbors", fmt::format("{}", detect.min_neighbors)},
                        {"--min-size", text(detect.min_size)},
                        {"--max-size", text(detect.max_size)},
                        {"--scan", detect.scan == Scan::dense ? "dense" : "opencv"},
                        {"--equalize", detect.equalize ? "on" : "off"},
                        {"--annotate", folder(command.annotate)},
                        {"--crops", folder(command.crops)}};
  if (command.crop.margin != 0)
    options.emplace_back("--crop-margin", fmt::format("{}", command.crop.margin));
  if (command.crop.size.area() != 0) options.emplace_back("--crop-size", text(command.crop.size));
  if (!command.blur.empty()) options.emplace_back("--blur", folder(command.blur));
  if (command.blur_style == BlurStyle::pixelate) options.emplace_back("--blur-style", "pixelate");
  if (command.kept == Kept::best) options.emplace_back("--best", "on");
  if (command.kept == Kept::biggest) options.emplace_back("--biggest", "on");
  if (command.luma) options.emplace_back("--luma", "on");
  const FrameChoice& frames = command.frames;
  if (frames.every > 0) options.emplace_back("--every", fmt::format("{}", frames.every));
  if (frames.per_second > 0) options.emplace_back("--fps", fmt::format("{}", frames.per_second));
  if (command.turns) options.emplace_back("--orient", "auto");
  if (!command.shard.is_all()) options.emplace_back("--shard", to_text(command.shard));
  return options;
}

}  // namespace facesat::app

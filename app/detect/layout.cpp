#include "app/detect/layout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "cascades/cascade_store.hpp"
#include "results/format.hpp"
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

// Written into journals whatever their values, because older versions did. A new option must not be
// added: journals from before it lack it.
constexpr std::array<std::string_view, 6> fields_of_all_versions{
    "scale-factor", "min-neighbors", "min-size", "max-size", "scan", "equalize"};

template <class Options>
void append(ResultOptions& to, const Options& options, const std::vector<Field<Options>>& fields,
            std::span<const std::string_view> always = {}) {
  for (const Field<Options>& field : fields)
    if (!is_default(field, options) || std::ranges::find(always, field.name) != always.end())
      to.emplace_back(fmt::format("--{}", field.name), text_of(field, options));
}

}  // namespace

Layout layout_of(const DetectCommand& command,
                 const std::vector<std::shared_ptr<const Cascade>>& cascades) {
  Layout layout{.format = command.format,
                .cascades = {},
                .csv_safe = command.csv_safe,
                .csv_all = command.csv_all};
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
  const auto folder = [](const std::string& name) -> std::string {
    if (name.empty()) return "none";
    const std::filesystem::path path = std::filesystem::absolute(name).lexically_normal();
    return path.has_filename() ? path : path.parent_path();  // "a/" is the same as "a"
  };
  ResultOptions options{{"--format", std::string(command.format->name)},
                        {"--csv-safe", command.csv_safe ? "on" : "off"},
                        {"--cascade", cascades}};
  if (command.csv_all) options.emplace_back("--csv-all", "on");
  append(options, command.detect, detection_fields(), fields_of_all_versions);
  options.emplace_back("--annotate", folder(command.annotate));
  options.emplace_back("--crops", folder(command.crops));
  append(options, command.crop, crop_fields());
  if (!command.blur.empty()) options.emplace_back("--blur", folder(command.blur));
  if (command.blur_style == BlurStyle::pixelate) options.emplace_back("--blur-style", "pixelate");
  if (command.search.kept == Kept::best) options.emplace_back("--best", "on");
  if (command.search.kept == Kept::biggest) options.emplace_back("--biggest", "on");
  append(options, command.search, search_fields());
  append(options, command.frames, frame_fields());
  if (!command.shard.is_all()) options.emplace_back("--shard", to_text(command.shard));
  return options;
}

}  // namespace facesat::app

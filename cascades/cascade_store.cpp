#include "cascades/cascade_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace facesat {
namespace {

namespace fs = std::filesystem;

// The names of OpenCV's files of one kind (Haar or LBP): the prefix of the names that users give,
// the folder, and the prefix of the files.
struct Kind {
  std::string_view name_prefix, folder, file_prefix;
};
constexpr Kind kinds[] = {{"", "haarcascades", "haarcascade_"},
                          {"lbp:", "lbpcascades", "lbpcascade_"}};
constexpr std::string_view extension = ".xml";

// The places where OpenCV's folders may be, in the order of the search. FACESAT_CASCADE_DIR is set
// by the build.
std::vector<fs::path> roots() {
  std::vector<fs::path> result;
  if (const char* folder = std::getenv("FACESAT_CASCADES"); folder && *folder)
    result.emplace_back(folder);
  for (const char* folder : {FACESAT_CASCADE_DIR, "/usr/share/opencv4", "/usr/local/share/opencv4"})
    result.emplace_back(folder);
  return result;
}

const Kind& kind_of(std::string_view name) {
  return kinds[name.starts_with(kinds[1].name_prefix)];  // Haar has no prefix
}

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(extension);
}

// Adds the names of the cascades of one kind that are installed in `root`.
void add_names(const fs::path& root, const Kind& kind, std::set<std::string>& names) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root / kind.folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with(kind.file_prefix) && file.ends_with(extension))
      names.insert(std::string(kind.name_prefix) +
                   file.substr(kind.file_prefix.size(),
                               file.size() - kind.file_prefix.size() - extension.size()));
  }
}

}  // namespace

std::optional<fs::path> cascade_file(const std::string& name) {
  if (is_path(name)) return name;
  const Kind& kind = kind_of(name);
  const std::string_view stem = std::string_view(name).substr(kind.name_prefix.size());
  for (const fs::path& root : roots()) {
    fs::path file = root / kind.folder / fmt::format("{}{}{}", kind.file_prefix, stem, extension);
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file;
  }
  return std::nullopt;
}

std::shared_ptr<const Cascade> cascade_from_xml(std::string_view xml, const std::string& name) {
  return std::make_shared<Cascade>(parse_cascade(xml, name));
}

CascadeInfo info_of(const Cascade& cascade) {
  return {.name = cascade.name,
          .is_lbp = cascade.kind == FeatureKind::lbp,
          .window = cascade.window,
          .stages = static_cast<int>(cascade.stages.size()),
          .trees = static_cast<int>(cascade.trees.size())};
}

std::shared_ptr<const Cascade> find_cascade(const std::string& name) {
  if (name == default_cascade_name)
    return std::make_shared<Cascade>(parse_cascade(embedded_cascade(), name));
  const auto file = cascade_file(name);
  if (!file)
    throw CascadeError(
        fmt::format("there is no cascade named \"{}\": 'facesat cascades' lists the names, and a "
                    "path to an XML file "
                    "is accepted too (install opencv-data, or set FACESAT_CASCADES to a folder "
                    "with haarcascades/ "
                    "and lbpcascades/)",
                    name));
  Cascade cascade = load_cascade(*file);
  if (!is_path(name)) cascade.name = name;
  return std::make_shared<Cascade>(std::move(cascade));
}

std::vector<std::string> cascade_names() {
  std::set<std::string> names{std::string(default_cascade_name)};
  for (const fs::path& root : roots())
    for (const Kind& kind : kinds) add_names(root, kind, names);
  return {names.begin(), names.end()};
}

}  // namespace facesat

#include "cascades/cascade_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "facesat.hpp"

// Copies the XML of the default cascade, FACESAT_EMBEDDED_FILE of the build, into the program.
asm(R"(
  .section .rodata
  .balign 16
facesat_embedded_begin:
  .incbin ")" FACESAT_EMBEDDED_FILE R"("
facesat_embedded_end:
  .previous
)");

extern "C" const char facesat_embedded_begin[], facesat_embedded_end[];

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

// The place of an installed cascade.
std::optional<fs::path> installed_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return std::nullopt;
  const Kind& kind = kind_of(name);
  const std::string_view stem = std::string_view(name).substr(kind.name_prefix.size());
  for (const fs::path& root : roots()) {
    fs::path file = root / kind.folder / fmt::format("{}{}{}", kind.file_prefix, stem, extension);
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file;
  }
  return std::nullopt;
}

// ---- the nearest name ---------------------------------------------------------------------------

// Whether a file of this name may be a cascade.
bool has_cascade_extension(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.ends_with(".xml") || name.ends_with(".yml") || name.ends_with(".yaml") ||
         name.ends_with(".json");
}

// What a cascade of this name is called in cascade_names(), if OpenCV has such a file.
std::string as_name(const std::string& name) {
  std::string stem = fs::path(name).filename().string();
  if (stem.ends_with(extension)) stem.resize(stem.size() - extension.size());
  for (const Kind& kind : kinds)
    if (stem.starts_with(kind.file_prefix))
      return std::string(kind.name_prefix) + stem.substr(kind.file_prefix.size());
  return stem;
}

// How many characters have to be inserted, deleted, changed or exchanged with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool differ = a[i - 1] != b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differ});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return text;
}

// The nearest to `name` of some names that exist. Those that begin with it are near.
class Nearest {
  static constexpr std::size_t npos = std::string::npos;

 public:
  explicit Nearest(const std::string& name) : name_(in_lower_case(name)) {}

  void consider(const std::string& candidate, const std::string& answer) {
    constexpr std::size_t longest = 256;  // nobody has typed a longer one
    if (name_.size() > longest || candidate.size() > longest) return;
    const std::string other = in_lower_case(candidate);
    const bool is_beginning = name_.size() > 2 && other.starts_with(name_);
    const std::size_t far = std::min(distance(name_, other), is_beginning ? 1 : npos);
    if (far <= std::max(name_.size(), candidate.size()) / 2 && far < distance_)
      distance_ = far, answer_ = answer;
  }
  std::size_t distance_so_far() const { return distance_; }
  const std::string& answer() const { return answer_; }  // empty: none is near

 private:
  std::string name_, answer_;
  std::size_t distance_ = npos;
};

// An installed cascade, or a file in the folder that a path names.
std::string nearest_to(const std::string& name) {
  Nearest cascade(as_name(name)), file(fs::path(name).filename().string());
  for (const std::string& known : cascade_names()) cascade.consider(known, known);
  const fs::path folder = fs::path(name).parent_path();
  std::error_code ignored;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    if (++files > 10'000) break;
    const std::string other = entry.path().filename().string();
    if (has_cascade_extension(other)) file.consider(other, (folder / other).string());
  }
  return file.distance_so_far() <= cascade.distance_so_far() && !file.answer().empty()
             ? file.answer()
             : cascade.answer();
}

// Whether a name is meant to be a file, although there is none.
bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || has_cascade_extension(name);
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::string nearest = nearest_to(name);
  const std::string question =
      nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
  if (is_path(name)) throw CascadeError(fmt::format("{}: there is no such file{}", name, question));
  throw CascadeError(fmt::format(
      "there is no cascade named \"{}\", and no file{} ('facesat cascades' lists the names; they "
      "come from the package opencv-data, or from the folder in FACESAT_CASCADES with "
      "haarcascades/ and lbpcascades/)",
      name, question));
}

}  // namespace

bool names_file(const std::string& name) {
  std::error_code ignored;
  const fs::file_status status = fs::status(name, ignored);
  if (fs::is_regular_file(status)) return true;
  return is_path(name) && status.type() != fs::file_type::not_found;
}

std::optional<fs::path> cascade_file(const std::string& name) {
  if (names_file(name)) return name;
  return installed_file(name);
}

std::shared_ptr<const Cascade> cascade_from_bytes(std::string_view bytes, const std::string& name) {
  return std::make_shared<Cascade>(parse_cascade(bytes, name));
}

CascadeInfo info_of(const Cascade& cascade) {
  return {.name = cascade.name,
          .is_lbp = cascade.kind == FeatureKind::lbp,
          .features = traits_of(cascade.kind).name,
          .window = cascade.window,
          .stages = static_cast<int>(cascade.stages.size()),
          .trees = static_cast<int>(cascade.trees.size()),
          .warnings = cascade.warnings};
}

std::string_view embedded_cascade() {
  return {facesat_embedded_begin,
          static_cast<std::size_t>(facesat_embedded_end - facesat_embedded_begin)};
}

std::shared_ptr<const Cascade> find_cascade(const std::string& name) {
  if (names_file(name)) return std::make_shared<Cascade>(load_cascade(name));
  if (name == default_cascade_name)
    return std::make_shared<Cascade>(parse_cascade(embedded_cascade(), name));
  const auto file = installed_file(name);
  if (!file) fail_unknown(name);
  Cascade cascade = load_cascade(*file);
  cascade.name = name;
  return std::make_shared<Cascade>(std::move(cascade));
}

std::vector<std::string> cascade_names() {
  std::set<std::string> names{std::string(default_cascade_name)};
  for (const fs::path& root : roots())
    for (const Kind& kind : kinds) add_names(root, kind, names);
  return {names.begin(), names.end()};
}

}  // namespace facesat

// YOLO: a text for each picture, with a line "class x y width height" for each object: its centre
// and size as fractions of the picture's. (A line of more pairs is an outline.) The texts lie
// beside the pictures, or in a folder "labels" beside "images". A picture without a text, or with
// an empty one, has no objects.
#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "core/parse_number.hpp"
#include "datasets/annotation_reader.hpp"
#include "media/codec.hpp"
#include "results/inputs.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;

struct Labelled {
  fs::path picture, labels;
  std::string name;
};

// The path with its last folder `from` replaced by `to`; empty if there is none.
fs::path swapped(const fs::path& path, std::string_view from, std::string_view to) {
  std::vector<fs::path> parts(path.begin(), path.end());
  const auto last = std::find(parts.rbegin(), parts.rend(), fs::path(from));
  if (last == parts.rend()) return {};
  *last = to;
  fs::path result;
  for (const fs::path& part : parts) result /= part;
  return result;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return !path.empty() && fs::is_directory(path, ignored);
}

fs::path text_of(fs::path picture) {
  return picture.replace_extension(".txt");
}

// ---- which pictures there are

// The folder of the pictures and that of the texts.
std::pair<fs::path, fs::path> folders_of(const AnnotationSource& source,
                                         const AnnotationOptions& options) {
  const fs::path &given = source.path, inner = given / "labels";
  if (!options.pictures.empty()) return {options.pictures, is_folder(inner) ? inner : given};
  if (is_folder(inner) && is_folder(given / "images")) return {given / "images", inner};
  if (const fs::path images = swapped(given, "labels", "images"); is_folder(images))
    return {images, given};
  if (const fs::path labels = swapped(given, "images", "labels"); is_folder(labels))
    return {given, labels};
  return {given, given};
}

// Calls use() with each picture until it returns false.
template <class Use>
void for_pictures(const AnnotationSource& source, const AnnotationOptions& options, Use use) {
  const auto [pictures, labels] = folders_of(source, options);
  Inputs inputs({.inputs = {pictures.string()}, .recursive = true, .excluded = {}});
  while (const std::optional<Input> input = inputs.next())
    if (input->kind == Input::Kind::picture &&
        !use(Labelled{input->path, text_of(labels / input->name), input->name}))
      return;
}

std::vector<Labelled> pictures_of_list(const AnnotationSource& source,
                                       const AnnotationCollector& found) {
  std::vector<Labelled> pictures;
  Lines lines(source.text);
  while (const auto line = lines.next()) {
    const std::string name(trimmed(*line));
    if (name.empty()) continue;
    const fs::path picture = found.find(name), beside = text_of(picture),
                   elsewhere = swapped(beside, "images", "labels");
    std::error_code ignored;
    const bool is_beside = elsewhere.empty() || fs::is_regular_file(beside, ignored);
    pictures.push_back({picture, is_beside ? beside : elsewhere, name});
  }
  return pictures;
}

bool recognises_list(const AnnotationSource& source) {
  if (source.is_folder) return false;
  Lines lines(source.text);
  while (const auto line = lines.next())
    if (!trimmed(*line).empty())
      return has_extension(fs::path(trimmed(*line)), picture_extensions());
  return false;
}

// ---- names of classes

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// One of the names in YAML: "- car", "0: car" or "car".
void add_name(std::string_view item, std::vector<std::string>& names) {
  constexpr std::size_t most = 100'000;
  item = trimmed(item);
  if (item.starts_with("- ")) item = trimmed(item.substr(2));
  std::size_t index = names.size();
  if (const std::size_t colon = item.find(':'); colon != item.npos)
    if (const auto number = parse_number<std::size_t>(trimmed(item.substr(0, colon)))) {
      index = *number;
      item.remove_prefix(colon + 1);
    }
  if (index >= most) return;
  if (names.size() <= index) names.resize(index + 1);
  names[index] = unquoted(item);
}

// "names: [car, bus]", "names: {0: car}", or a name on each line that follows.
std::vector<std::string> names_of_yaml(std::string_view text) {
  constexpr std::string_view key = "names:";
  std::vector<std::string> names;
  const std::size_t line = text.starts_with(key) ? 0 : text.find("\nnames:");
  if (line == text.npos) return names;
  std::string_view rest = text.substr(text.find(key, line) + key.size());
  const std::string_view list = trimmed(rest);
  if (list.starts_with('[') || list.starts_with('{')) {
    std::string_view inside = list.substr(1, list.find_first_of("]}") - 1);
    while (!trimmed(inside).empty()) {
      const std::size_t comma = std::min(inside.find(','), inside.size());
      add_name(inside.substr(0, comma), names);
      inside.remove_prefix(std::min(comma + 1, inside.size()));
    }
    return names;
  }
  Lines lines(rest);
  lines.next();  // that of the key
  while (const auto next = lines.next()) {
    const std::string_view item = trimmed(*next);
    if (item.empty() || item.starts_with('#')) continue;
    if (!next->starts_with(' ') && !next->starts_with('-')) break;
    add_name(item, names);
  }
  return names;
}

std::vector<std::string> names_of_lines(std::string_view text) {
  std::vector<std::string> names;
  Lines lines(text);
  while (const auto line = lines.next()) names.emplace_back(trimmed(*line));
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

std::vector<std::string> class_names(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders)
    for (const char* name : {"data.yaml", "classes.txt", "obj.names"})
      if (const fs::path file = folder / name; has_contents(file)) {
        const std::string text = read_annotation_file(file);
        auto names = file.extension() == ".yaml" ? names_of_yaml(text) : names_of_lines(text);
        if (!names.empty()) return names;
      }
  return {};
}

// ---- objects

struct RelativeObject {
  std::size_t class_index;
  double left, top, right, bottom;  // fractions
};

// nullopt if the line is none.
std::optional<RelativeObject> parse(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 5) return std::nullopt;
  const auto index = parse_number<std::size_t>(words[0]);
  std::vector<double> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = parse_number<double>(words[i]);
    constexpr double most = 2;  // further outside, it is in pixels, and no fraction
    if (!index || !number || !(std::abs(*number) <= most)) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() <= 5) {  // a fifth number is a score
    const auto [x, y, width, height] = std::tuple(numbers[0], numbers[1], numbers[2], numbers[3]);
    return RelativeObject{*index, x - width / 2, y - height / 2, x + width / 2, y + height / 2};
  }
  if (numbers.size() % 2 != 0) return std::nullopt;
  RelativeObject object{*index, numbers[0], numbers[1], numbers[0], numbers[1]};
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    object.left = std::min(object.left, numbers[i]);
    object.right = std::max(object.right, numbers[i]);
    object.top = std::min(object.top, numbers[i + 1]);
    object.bottom = std::max(object.bottom, numbers[i + 1]);
  }
  return object;
}

// Is this the text of a picture? It may be empty.
bool is_label_file(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  if (!has_contents(file)) return true;
  const std::string text = read_annotation_file(file);
  Lines lines(text);
  auto line = lines.next();
  while (line && trimmed(*line).empty()) line = lines.next();
  return !line || parse(*line).has_value();
}

bool recognises_folder(const AnnotationSource& source) {
  if (!source.is_folder) return false;
  if (is_folder(source.path / "labels") && is_folder(source.path / "images")) return true;
  bool found = false;
  for_pictures(source, {}, [&](const Labelled& picture) {
    found = is_label_file(picture.labels);
    return !found;
  });
  // The pictures may be elsewhere.
  std::error_code error;
  for (fs::directory_iterator entry(source.path, error), end; !found && !error && entry != end;
       entry.increment(error))
    found = has_extension(entry->path(), {".txt"}) && has_contents(entry->path()) &&
            is_label_file(entry->path());
  return found;
}

// The size of a picture, or why it cannot be read.
struct Measured {
  Size size;
  std::string failure;
};

std::vector<Measured> measure(const std::vector<Labelled>& pictures) {
  std::vector<Measured> sizes(pictures.size());
  tbb::parallel_for(std::size_t{0}, pictures.size(), [&](std::size_t i) {
    if (!has_contents(pictures[i].labels)) return;
    try {
      sizes[i].size = read_picture(pictures[i].picture, {}, Reading::luma).size();
    } catch (const InputError& error) {
      sizes[i].failure = error.what();
    }
  });
  return sizes;
}

void add_objects(const Labelled& labelled, Size size, const std::vector<std::string>& names,
                 AnnotationCollector& found) {
  const std::size_t picture = found.picture(labelled.name, labelled.picture);
  if (!has_contents(labelled.labels)) return;
  found.at(picture).size = size;
  const std::string text = read_annotation_file(labelled.labels);
  Lines lines(text);
  while (const auto line = lines.next()) {
    if (trimmed(*line).empty()) continue;
    const Place place{labelled.labels, lines.number()};
    const std::optional<RelativeObject> object = parse(*line);
    if (!object) {
      found.leave_out(place,
                      "expected a class, and x, y, width and height as fractions of the picture, "
                      "so the line is left out");
      continue;
    }
    const auto& [index, left, top, right, bottom] = *object;
    const bool has_name = index < names.size() && !names[index].empty();
    found.add(picture,
              {.box = {left * size.width, top * size.height, (right - left) * size.width,
                       (bottom - top) * size.height},
               .label = has_name ? names[index] : std::to_string(index),
               .ignored = false},
              place);
  }
}

void read(const std::vector<Labelled>& pictures, const std::vector<fs::path>& folders_of_names,
          AnnotationCollector& found) {
  const std::vector<std::string> names = class_names(folders_of_names);
  const std::vector<Measured> measured = measure(pictures);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    if (measured[i].failure.empty())
      add_objects(pictures[i], measured[i].size, names, found);
    else
      found.leave_out({pictures[i].picture}, measured[i].failure);
}

void read_folder(const AnnotationSource& source, AnnotationCollector& found) {
  std::vector<Labelled> pictures;
  for_pictures(source, found.options(), [&](const Labelled& picture) {
    pictures.push_back(picture);
    return true;
  });
  const fs::path labels = folders_of(source, found.options()).second;
  read(pictures, {source.path, labels, source.path / "..", source.path / "../.."}, found);
}

void read_list(const AnnotationSource& source, AnnotationCollector& found) {
  const std::vector<Labelled> pictures = pictures_of_list(source, found);
  if (std::ranges::none_of(pictures, [](const auto& one) { return has_contents(one.labels); }))
    throw UsageError(
        fmt::format("{}: this is a list of pictures, and none of them has labels: "
                    "they are looked for as {}",
                    source.path.string(), pictures.front().labels.string()));
  read(pictures, {source.folder()}, found);
}

}  // namespace

bool list_has_labels(const AnnotationSource& source) {
  const std::vector<Labelled> pictures =
      pictures_of_list(source, AnnotationCollector(source, {.labels = {}, .pictures = {}}));
  return std::ranges::any_of(pictures, [](const auto& one) { return has_contents(one.labels); });
}

const AnnotationReader yolo_folder_annotations{
    "texts of YOLO (CLASS X Y WIDTH HEIGHT) in a folder, beside the pictures or in \"labels\" "
    "beside \"images\"",
    recognises_folder, read_folder};
const AnnotationReader yolo_list_annotations{"a list of pictures with such texts", recognises_list,
                                             read_list};

}  // namespace facesat::training

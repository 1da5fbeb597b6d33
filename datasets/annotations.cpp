#include "datasets/annotations.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/parse_number.hpp"
#include "datasets/annotation_reader.hpp"
#include "media/input_file.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;

// The first one that recognises a source reads it. Those that look at the least come last.
constexpr const AnnotationReader* readers[] = {
    &voc_annotations, &yolo_folder_annotations, &jsonl_annotations,    &coco_annotations,
    &csv_annotations, &info_annotations,        &yolo_list_annotations};

const AnnotationReader* reader_of(const AnnotationSource& source) {
  const auto found = std::ranges::find_if(
      readers, [&](const AnnotationReader* reader) { return reader->recognises(source); });
  return found == std::end(readers) ? nullptr : *found;
}

AnnotationSource open(const fs::path& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  return {path, is_folder, is_folder ? "" : read_annotation_file(path)};
}

[[noreturn]] void refuse_unknown(const fs::path& path) {
  std::vector<std::string_view> names;
  for (const AnnotationReader* reader : readers) names.push_back(reader->name);
  throw UsageError(
      fmt::format("{}: these are not annotations in a format that is known. Expected one of: {}",
                  path.string(), fmt::join(names, "; ")));
}

// The largest coordinate that a picture can have, generously.
constexpr double most = 1e6;

bool is_of_this_world(const Box& box) {
  const auto is_small = [](double number) { return std::abs(number) <= most; };  // not NaN
  return is_small(box.x) && is_small(box.y) && is_small(box.width) && is_small(box.height);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

// ---- what readers share

std::string Place::text() const {
  return line > 0 ? fmt::format("{}, line {}", file.string(), line) : file.string();
}

std::size_t AnnotationCollector::picture(const std::string& name) {
  const auto known = indices_.find(name);
  return known != indices_.end() ? known->second : picture(name, find(name));
}

std::size_t AnnotationCollector::picture(const std::string& name, const fs::path& file) {
  const auto [known, is_new] = indices_.emplace(name, pictures_.size());
  if (is_new) pictures_.push_back({.file = file, .name = name, .objects = {}, .size = {}});
  return known->second;
}

std::vector<fs::path> AnnotationCollector::folders() const {
  if (!options_.pictures.empty()) return {options_.pictures};
  std::vector<fs::path> all;
  for (const fs::path& folder : {folder_, folder_ / ".."})
    for (const char* below : {"", "images", "JPEGImages"}) all.push_back(folder / below);
  return all;
}

fs::path AnnotationCollector::find(const std::string& name) const {
  std::string other = name;  // as written on Windows
  std::ranges::replace(other, '\\', '/');
  const std::vector<fs::path> all = folders();
  for (const std::string& spelling : {name, other})
    for (const fs::path& folder : all)
      if (fs::path file = (folder / spelling).lexically_normal(); is_file(file)) return file;
  return (all.front() / name).lexically_normal();
}

void AnnotationCollector::add(std::size_t picture, AnnotatedObject object, const Place& place) {
  const Box& box = object.box;
  if (!is_of_this_world(box))
    return leave_out(place, "the box is not within any picture, so it is left out");
  if (!(box.width > 0 && box.height > 0))
    return leave_out(place, fmt::format("the box is {:g} wide and {:g} high, so it is left out",
                                        box.width, box.height));
  const std::vector<std::string>& labels = options_.labels;
  if (!labels.empty() && std::ranges::find(labels, object.label) == labels.end()) {
    object.ignored = true;
    ++other_labels_[object.label];
  } else {
    ++wanted_;
  }
  pictures_[picture].objects.push_back(std::move(object));
}

void AnnotationCollector::leave_out(const Place& place, std::string_view reason) {
  warnings_.add(fmt::format("{}: {}", place.text(), reason));
}

Annotations AnnotationCollector::take() {
  if (wanted_ == 0 && !other_labels_.empty()) {
    std::vector<std::string> there;
    for (const auto& [label, count] : other_labels_)
      there.push_back(label.empty() ? fmt::format("{} without a label", count)
                                    : fmt::format("{} \"{}\"", count, label));
    constexpr std::size_t shown = 20;
    if (there.size() > shown) there.resize(shown);
    throw UsageError(fmt::format("no object has the label \"{}\"; there are {}",
                                 fmt::join(options_.labels, "\" or \""), fmt::join(there, ", ")));
  }
  return {std::move(pictures_), warnings_.all()};
}

Lines::Lines(std::string_view text) : rest_(text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (rest_.starts_with(mark)) rest_.remove_prefix(mark.size());
}

std::optional<std::string_view> Lines::next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return line;
}

std::size_t line_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view spaces = " \t";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(spaces); at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(spaces, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(spaces, end);
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
}

std::string read_annotation_file(const fs::path& path) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  try {
    const InputFile file(path);
    if (file.size() > most_bytes)
      throw UsageError(fmt::format("{}: the file has {} bytes; annotations may have {}",
                                   path.string(), file.size(), most_bytes));
    const FileBytes bytes = file.read();
    return std::string(as_text(bytes));
  } catch (const InputError& error) {
    throw UsageError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::optional<Box> parse_box(std::string_view x, std::string_view y, std::string_view width,
                             std::string_view height) {
  const auto number = [](std::string_view text) { return parse_number<double>(trimmed(text)); };
  const auto left = number(x), top = number(y), across = number(width), down = number(height);
  if (!left || !top || !across || !down) return std::nullopt;
  return Box{*left, *top, *across, *down};
}

Size picture_size(std::optional<double> width, std::optional<double> height) {
  const auto is_length = [](std::optional<double> number) {
    return number && *number >= 1 && *number <= most;
  };
  if (!is_length(width) || !is_length(height)) return {};
  return {static_cast<int>(*width), static_cast<int>(*height)};
}

// ---- the interface

bool has_annotations(const fs::path& path) {
  const AnnotationSource source = open(path);
  const AnnotationReader* const reader = reader_of(source);
  return reader && (reader != &yolo_list_annotations || list_has_labels(source));
}

Annotations read_annotations(const fs::path& path, const AnnotationOptions& options) {
  const AnnotationSource source = open(path);
  const AnnotationReader* const reader = reader_of(source);
  if (!reader) refuse_unknown(path);
  AnnotationCollector found(source, options);
  reader->read(source, found);
  try {
    return found.take();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace facesat::training

// Pascal VOC: an XML file for each picture. Coordinates count from 1, and a box has its last pixel,
// too: "1 1 10 10" are the first ten pixels. (Many programs that write this format count from 0 and
// leave the last one out; their boxes come out up to a pixel larger.)
#include <algorithm>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "core/parse_number.hpp"
#include "datasets/annotation_reader.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;

// The XML files of a folder, by name.
std::vector<fs::path> xml_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (has_extension(entry->path(), {".xml"})) files.push_back(entry->path());
  std::ranges::sort(files);
  return files;
}

// In the folder, or in that of the usual name below it.
std::vector<fs::path> files_of(const AnnotationSource& source) {
  if (!source.is_folder) return {source.path};
  std::vector<fs::path> files = xml_files(source.path);
  return files.empty() ? xml_files(source.path / "Annotations") : files;
}

bool recognises(const AnnotationSource& source) {
  if (source.is_folder) return !files_of(source).empty();
  return trimmed(std::string_view(source.text).substr(0, 1000)).find("<annotation") !=
         std::string_view::npos;
}

std::optional<double> number_of(const pugi::xml_node& parent, const char* name) {
  return parse_number<double>(trimmed(parent.child_value(name)));
}

std::optional<Box> box_of(const pugi::xml_node& object) {
  const pugi::xml_node box = object.child("bndbox");
  const auto left = number_of(box, "xmin"), top = number_of(box, "ymin"),
             right = number_of(box, "xmax"), bottom = number_of(box, "ymax");
  if (!left || !top || !right || !bottom) return std::nullopt;
  // A box that begins at 0 was counted from there.
  const double x = std::max(*left - 1, 0.0), y = std::max(*top - 1, 0.0);
  return Box{x, y, *right - x, *bottom - y};
}

// The name that the file gives for its picture is often that of another machine, so that the
// picture with the name of the file is tried, too.
std::pair<std::string, fs::path> find_picture(const AnnotationSource& source, const fs::path& xml,
                                              const std::string& given,
                                              const AnnotationCollector& found) {
  std::vector<std::string> names;
  if (!given.empty()) names.push_back(given);
  for (const std::string_view extension : picture_extensions())
    names.push_back(xml.stem().string() + std::string(extension));
  const AnnotationSource of_file{.path = xml, .is_folder = false, .text = {}};
  const AnnotationCollector beside(source.is_folder ? of_file : source, found.options());
  std::error_code ignored;
  for (const std::string& name : names)
    if (fs::path file = beside.find(name); fs::is_regular_file(file, ignored)) return {name, file};
  return {names.front(), beside.find(names.front())};
}

void read_file(const AnnotationSource& source, const fs::path& file, const std::string& text,
               AnnotationCollector& found) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    const auto byte = static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0));
    return found.leave_out(
        {file, line_of(text, byte)},
        fmt::format("this is not XML ({}), so the file is left out", parsed.description()));
  }
  const pugi::xml_node annotation = document.child("annotation");
  if (!annotation) return found.leave_out({file}, "there is no <annotation>, so it is left out");
  const auto [name, path] = find_picture(source, file, annotation.child_value("filename"), found);
  const std::size_t picture = found.picture(name, path);
  const pugi::xml_node size = annotation.child("size");
  found.at(picture).size = picture_size(number_of(size, "width"), number_of(size, "height"));
  for (const pugi::xml_node& object : annotation.children("object")) {
    const auto byte = static_cast<std::size_t>(std::max<std::ptrdiff_t>(object.offset_debug(), 0));
    const Place place{file, line_of(text, byte)};
    const std::optional<Box> box = box_of(object);
    if (!box) {
      found.leave_out(place, "there is no <bndbox> with four numbers, so the object is left out");
      continue;
    }
    const bool is_difficult = trimmed(object.child_value("difficult")) == "1";
    found.add(picture, {.box = *box, .label = object.child_value("name"), .ignored = is_difficult},
              place);
  }
}

void read(const AnnotationSource& source, AnnotationCollector& found) {
  if (!source.is_folder) return read_file(source, source.path, source.text, found);
  for (const fs::path& file : files_of(source)) {
    try {
      read_file(source, file, read_annotation_file(file), found);
    } catch (const UsageError& error) {
      found.warn(error.what());
    }
  }
}

}  // namespace

const AnnotationReader voc_annotations{"XML of Pascal VOC (a file, or a folder of them)",
                                       recognises, read};

}  // namespace facesat::training

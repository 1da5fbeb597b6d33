// info.dat of OpenCV: a line for each picture, "path n x y w h x y w h ...". Paths may have spaces:
// the number of objects is the first word after which as many numbers follow.
#include <algorithm>

#include "core/parse_number.hpp"
#include "datasets/annotation_reader.hpp"

namespace facesat::training {
namespace {

struct InfoLine {
  std::string name;
  std::vector<Box> boxes;
};

std::optional<InfoLine> parse(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t left = words.size() - 1 - i;
    if (left % 4 != 0 || parse_number<std::size_t>(words[i]) != left / 4) continue;
    InfoLine info{.name = {words.front().data(), words[i - 1].data() + words[i - 1].size()},
                  .boxes = {}};
    for (std::size_t at = i + 1; at < words.size(); at += 4)
      if (const auto box = parse_box(words[at], words[at + 1], words[at + 2], words[at + 3]))
        info.boxes.push_back(*box);
    if (info.boxes.size() == left / 4) return info;
  }
  return std::nullopt;
}

bool has_contents(std::string_view line) {
  return !trimmed(line).empty() && !line.starts_with('#');
}

bool recognises(const AnnotationSource& source) {
  constexpr int tried = 100;
  Lines lines(source.text);
  for (auto line = lines.next(); line && lines.number() <= tried; line = lines.next())
    if (has_contents(*line) && parse(*line)) return true;
  return false;
}

void read(const AnnotationSource& source, AnnotationCollector& found) {
  Lines lines(source.text);
  while (const auto line = lines.next()) {
    if (!has_contents(*line)) continue;
    const Place place{source.path, lines.number()};
    const std::optional<InfoLine> info = parse(*line);
    if (!info) {
      found.leave_out(place,
                      "expected a path, the number of objects and four numbers for each of them, "
                      "so the line is left out");
      continue;
    }
    const std::size_t picture = found.picture(info->name);
    for (const Box& box : info->boxes)
      found.add(picture, {.box = box, .label = "", .ignored = false}, place);
  }
}

}  // namespace

const AnnotationReader info_annotations{
    "info.dat of OpenCV (lines of PATH COUNT X Y WIDTH HEIGHT ...)", recognises, read};

}  // namespace facesat::training

#include "results/results.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace facesat {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Face& found, const Layout& layout) {
  const Rect& box = found.box;
  Json json{{"x", box.x},
            {"y", box.y},
            {"width", box.width},
            {"height", box.height},
            {"neighbors", found.neighbors},
            {"score", found.score}};
  if (layout.names_cascades()) json["cascade"] = layout.cascades[found.cascade];
  return json;
}

std::string to_json_line(const Record& record, const Layout& layout) {
  Json json{{"image", record.image}};
  if (record.frame) {
    json["frame"] = *record.frame;
    json["time"] = record.time;
  }
  if (!record.failure || record.failure->kind == kind_of_unwritten_picture) {
    json["width"] = record.size.width;
    json["height"] = record.size.height;
    if (record.orientation > 0) json["orientation"] = record.orientation;
    Json& faces = json["faces"] = Json::array();
    for (const Face& found : record.faces) faces.push_back(to_json(found, layout));
    if (!record.warning.empty()) json["warning"] = record.warning;
  }
  if (record.failure)
    json["error"] = {{"kind", record.failure->kind}, {"message", record.failure->message}};
  // Names that are not UTF-8 cannot be represented in JSON: their bytes are replaced by U+FFFD.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A CSV field, quoted if RFC 4180 requires it.
std::string csv_field(const std::string& value, bool safe) {
  const bool is_formula =
      !value.empty() && std::string_view("=+-@\t\r").find(value[0]) != std::string_view::npos;
  const std::string text = safe && is_formula ? "'" + value : value;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

std::string to_csv_lines(const Record& record, const Layout& layout) {
  const std::string name =
      csv_field(record.frame ? fmt::format("{}#{}", record.image, *record.frame) : record.image,
                layout.csv_safe);
  std::string lines;
  for (const Face& found : record.faces) {
    const Rect& box = found.box;
    lines += fmt::format("{},{},{},{},{},{},{}", name, box.x, box.y, box.width, box.height,
                         found.neighbors, found.score);
    if (layout.names_cascades())
      lines.append(1, ',').append(csv_field(layout.cascades[found.cascade], layout.csv_safe));
    lines += '\n';
  }
  return lines;
}

}  // namespace

std::string Layout::header() const {
  if (format == Format::jsonl) return "";
  return names_cascades() ? "image,x,y,w,h,neighbors,score,cascade\n"
                          : "image,x,y,w,h,neighbors,score\n";
}

std::string Layout::to_text(const Record& record) const {
  return format == Format::jsonl ? to_json_line(record, *this) : to_csv_lines(record, *this);
}

}  // namespace facesat

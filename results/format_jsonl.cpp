// JSON Lines: an object for each record. The file can be completed without a journal, because every
// record names its input.
#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "results/format.hpp"
#include "results/journal_file.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view replacement_character = "\xEF\xBF\xBD";  // U+FFFD

class JsonLines final : public Format {
 public:
  JsonLines()
      : Format({.name = "jsonl",
                .title = "JSON Lines",
                .description = "one JSON object per picture",
                .beginning = "{\"image\":",
                .tells_failures = true,
                .is_utf8 = true}) {}
  std::string header(const Layout&) const override { return ""; }
  std::string to_text(const Record& record, const Layout& layout) const override;
  bool holds_only_results(std::istream& in) const override;
  bool is_torn(std::string_view text, const Layout& layout) const override;
  JournalFile journal_of(const fs::path& file, const std::string& shown_name,
                         const Layout& layout) const override;
};

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

std::string JsonLines::to_text(const Record& record, const Layout& layout) const {
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

bool is_face(const Json& face) {
  const std::string keys = keys_of(face), usual = "x y width height neighbors score ";
  if (keys != usual && keys != usual + "cascade ") return false;
  for (const char* key : {"x", "y", "width", "height", "neighbors"})
    if (!face[key].is_number_integer()) return false;
  return face["score"].is_number() && (!face.contains("cascade") || face["cascade"].is_string());
}

bool is_error(const Json& error) {
  return keys_of(error) == "kind message " && error["kind"].is_string() &&
         error["message"].is_string();
}

bool is_record(const Json& record) {
  if (!record.is_object() || !record.contains("image") || !record["image"].is_string())
    return false;
  std::string keys = keys_of(record);
  const std::string of_frame = "image frame time ";
  const bool is_frame = keys.starts_with(of_frame);
  if (is_frame && !(record["frame"].is_number_unsigned() && record["time"].is_number()))
    return false;
  keys.erase(0, is_frame ? of_frame.size() : std::string("image ").size());
  if (record.contains("error") && !is_error(record["error"])) return false;
  if (keys == "error ") return true;
  constexpr std::string_view with_orientation = "width height orientation ";
  if (keys.starts_with(with_orientation)) {
    if (!record["orientation"].is_number_unsigned()) return false;
    keys.replace(0, with_orientation.size(), "width height ");
  }
  const std::string usual = "width height faces ";
  if (keys != usual && keys != usual + "warning " && keys != usual + "error " &&
      keys != usual + "warning error ")
    return false;
  if (record.contains("warning") && !record["warning"].is_string()) return false;
  const Json& faces = record["faces"];
  return record["width"].is_number_unsigned() && record["height"].is_number_unsigned() &&
         faces.is_array() &&
         std::all_of(faces.begin(), faces.end(), [](const Json& face) { return is_face(face); });
}

// A line without its end as a record; null if it is not exactly what facesat writes (it may have
// been written or edited by hand).
Json parse_record(std::string_view line) {
  Json record = Json::parse(line, nullptr, false);
  // A record by facesat, written again, gives the same bytes.
  const bool is_ours =
      is_record(record) && record.dump(-1, ' ', false, Json::error_handler_t::replace) == line;
  return is_ours ? record : Json();
}

bool JsonLines::holds_only_results(std::istream& in) const {
  for (std::string line; std::getline(in, line);)
    if (in.eof() || parse_record(line).is_null()) return false;  // eof: no line end
  return true;
}

bool JsonLines::is_torn(std::string_view text, const Layout&) const {
  const std::size_t common = std::min(text.size(), beginning.size());
  if (text.substr(0, common) != beginning.substr(0, common)) return false;
  if (text.find('\n') != text.npos) return false;
  return !Json::accept(text) || !parse_record(text).is_null();  // other complete JSON is foreign
}

JournalFile JsonLines::journal_of(const fs::path& file, const std::string&, const Layout&) const {
  JournalFile journal;
  const auto refuse = [&](const std::string& reason) {
    throw UsageError(
        fmt::format("{}, line {}: {}, so the file cannot be completed; name another output file",
                    file.string(), journal.entries.size() + 1, reason));
  };
  std::map<std::string, std::pair<int, int>> seen;  // name -> inputs, frames of the last input
  std::uint64_t end = 0;
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line) && !in.eof();) {
    end += line.size() + 1;
    const Json record = parse_record(line);
    if (record.is_null()) refuse("this is not a record as 'facesat detect' writes it");
    const std::string image = record["image"];
    if (image.find(replacement_character) != name.npos)
      refuse("without a journal, names that are not UTF-8 cannot be told apart");
    Journal::Entry entry;
    entry.key = name_key(image);
    entry.failed = record.contains("error");
    entry.end = end;
    entry.checksum = checksum(line + "\n");
    auto& [inputs, frames] = seen[image];
    if (record.contains("frame")) {
      entry.frame = record["frame"].get<int>();
      entry.last_of_input = false;  // unknown: the video is read again to find out
    }
    if (entry.frame.value_or(0) == 0) ++inputs, frames = 0;
    if (entry.frame.value_or(0) != frames++) refuse("frames before this one are missing");
    entry.occurrence = inputs - 1;
    journal.entries.push_back(std::move(entry));
  }
  return journal;
}

}  // namespace

const Format& jsonl_format() {
  static const JsonLines format;
  return format;
}

}  // namespace facesat

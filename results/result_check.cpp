#include "results/result_check.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/files.hpp"

namespace facesat {
namespace {

using Json = nlohmann::ordered_json;

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

template <class Number>
bool is_number(const std::string& field) {
  Number number{};
  const char* const end = field.data() + field.size();
  const auto [at, error] = std::from_chars(field.data(), end, number);
  return error == std::errc() && at == end;
}

// The fields of the next row, which may span several lines if fields are quoted; empty at the end.
// All quotes are dropped, because the contents of texts are not checked. A last row without a line
// end gives a single empty field.
std::vector<std::string> next_row(std::istream& in) {
  std::vector<std::string> fields;
  bool quoted = false;
  for (int c = in.get(); c != EOF; c = in.get()) {
    if (fields.empty()) fields.emplace_back();
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c == '\n' && !quoted)
      return fields;
    else
      fields.back() += static_cast<char>(c);
  }
  if (!fields.empty()) fields.assign(1, "");  // an unfinished last row
  return fields;
}

bool is_face(const std::vector<std::string>& row, std::size_t columns) {
  return row.size() == columns && is_number<int>(row[1]) && is_number<int>(row[2]) &&
         is_number<int>(row[3]) && is_number<int>(row[4]) && is_number<int>(row[5]) &&
         is_number<double>(row[6]);
}

bool holds_only_faces(std::istream& in) {
  const std::vector<std::string> usual{"image", "x", "y", "w", "h", "neighbors", "score"};
  std::vector<std::string> header = next_row(in);
  const std::size_t columns = header.size();
  if (columns == usual.size() + 1 && header.back() == "cascade") header.pop_back();
  if (header != usual) return false;
  while (true) {
    const std::vector<std::string> row = next_row(in);
    if (row.empty()) return true;
    if (!is_face(row, columns)) return false;
  }
}

}  // namespace

Json parse_record(std::string_view line) {
  Json record = Json::parse(line, nullptr, false);
  // A record by facesat, written again, gives the same bytes.
  const bool is_ours =
      is_record(record) && record.dump(-1, ' ', false, Json::error_handler_t::replace) == line;
  return is_ours ? record : Json();
}

bool is_torn_record(std::string_view text) {
  constexpr std::string_view beginning = "{\"image\":";
  const std::size_t common = std::min(text.size(), beginning.size());
  if (text.substr(0, common) != beginning.substr(0, common)) return false;
  if (text.find('\n') != text.npos) return false;
  return !Json::accept(text) || !parse_record(text).is_null();  // other complete JSON is foreign
}

bool is_torn_record_in_csv(std::string_view text, std::size_t columns) {
  std::istringstream in{std::string(text)};
  const std::vector<std::string> without_end{""};
  while (true) {
    const std::vector<std::string> row = next_row(in);
    if (row.empty() || row == without_end) return true;
    if (!is_face(row, columns)) return false;
  }
}

std::optional<Format> format_of_results(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (in.peek() != '{') return holds_only_faces(in) ? std::optional(Format::csv) : std::nullopt;
  for (std::string line; std::getline(in, line);)
    if (in.eof() || parse_record(line).is_null()) return std::nullopt;  // eof: no line end
  return Format::jsonl;
}

}  // namespace facesat

// CSV: a row for each face. A frame of a video is called NAME#FRAME. Inputs that could not be
// searched have no rows, and pictures without faces only if they are asked for, so that a file
// cannot be completed without its journal.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "core/parse_number.hpp"
#include "results/format.hpp"
#include "results/journal_file.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

class Csv final : public Format {
 public:
  Csv()
      : Format({.name = "csv",
                .title = "CSV",
                .description = "one CSV row per face",
                .beginning = "image,x,y,w,h,neighbors,score",
                .tells_failures = false,
                .is_utf8 = false}) {}
  std::string header(const Layout& layout) const override {
    return fmt::format("{}{}{}\n", beginning, layout.names_cascades() ? ",cascade" : "",
                       layout.csv_all ? ",crop" : "");
  }
  std::string to_text(const Record& record, const Layout& layout) const override;
  bool holds_only_results(std::istream& in) const override;
  bool is_torn(std::string_view text, const Layout& layout) const override;
  JournalFile journal_of(const std::filesystem::path& file, const std::string& shown_name,
                         const Layout& layout) const override;
};

std::size_t columns_of(std::string_view header) {
  return 1 + static_cast<std::size_t>(std::ranges::count(header, ','));
}

std::string Csv::to_text(const Record& record, const Layout& layout) const {
  const std::string image =
      csv_field(record.frame ? fmt::format("{}#{}", record.image, *record.frame) : record.image,
                layout.csv_safe);
  const bool was_searched = !record.failure || record.failure->kind == kind_of_unwritten_picture;
  if (layout.csv_all && record.faces.empty() && was_searched)
    return image + std::string(columns_of(header(layout)) - 1, ',') + "\n";
  std::string rows;
  for (std::size_t i = 0; i < record.faces.size(); ++i) {
    const Face& found = record.faces[i];
    const Rect& box = found.box;
    rows += fmt::format("{},{},{},{},{},{},{}", image, box.x, box.y, box.width, box.height,
                        found.neighbors, found.score);
    const auto add = [&](const std::string& text) {
      rows.append(1, ',').append(csv_field(text, layout.csv_safe));
    };
    if (layout.names_cascades()) add(layout.cascades[found.cascade]);
    if (layout.csv_all) add(i < record.crops.size() ? record.crops[i] : "");
    rows += '\n';
  }
  return rows;
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

// A face, or a picture without faces in a file that has them.
bool is_result(const std::vector<std::string>& row, std::size_t columns, bool has_all) {
  if (row.size() != columns) return false;
  const auto is_empty = [](const std::string& field) { return field.empty(); };
  if (has_all && std::all_of(row.begin() + 1, row.end(), is_empty)) return true;
  return parse_number<int>(row[1]) && parse_number<int>(row[2]) && parse_number<int>(row[3]) &&
         parse_number<int>(row[4]) && parse_number<int>(row[5]) && parse_number<double>(row[6]);
}

bool Csv::holds_only_results(std::istream& in) const {
  const std::vector<std::string> usual{"image", "x", "y", "w", "h", "neighbors", "score"};
  std::vector<std::string> header = next_row(in);
  const std::size_t columns = header.size();
  const bool has_all = !header.empty() && header.back() == "crop";
  for (const char* optional : {"crop", "cascade"})
    if (header.size() > usual.size() && header.back() == optional) header.pop_back();
  if (header != usual) return false;
  while (true) {
    const std::vector<std::string> row = next_row(in);
    if (row.empty()) return true;
    if (!is_result(row, columns, has_all)) return false;
  }
}

bool Csv::is_torn(std::string_view text, const Layout& layout) const {
  const std::size_t columns = columns_of(header(layout));
  std::istringstream in{std::string(text)};
  const std::vector<std::string> without_end{""};
  while (true) {
    const std::vector<std::string> row = next_row(in);
    if (row.empty() || row == without_end) return true;
    if (!is_result(row, columns, layout.csv_all)) return false;
  }
}

JournalFile Csv::journal_of(const std::filesystem::path& file, const std::string& shown_name,
                            const Layout& layout) const {
  const std::string first_line = header(layout);
  require_own_file(file, {first_line.substr(0, std::filesystem::file_size(file))});
  throw UsageError(
      fmt::format("{} has no journal ({}), and a CSV file cannot be completed without one. A run "
                  "without --resume that ends without failures deletes it, so the file may be "
                  "complete; to begin anew, delete the file",
                  shown_name, facesat::journal_of(file).filename().string()));
}

}  // namespace

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

const Format& csv_format() {
  static const Csv format;
  return format;
}

}  // namespace facesat

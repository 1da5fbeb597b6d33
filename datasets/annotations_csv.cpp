// CSV with a header that has the columns image, x, y, w and h, in any order: a row for each object.
// So is what `facesat detect --format csv` writes. A column "label" has labels, or else "cascade",
// as facesat writes it. Other columns are ignored. A row without x, y, w and h is a picture without
// objects.
#include <algorithm>
#include <array>

#include "datasets/annotation_reader.hpp"

namespace facesat::training {
namespace {

// Rows as in RFC 4180: fields in quotes may have commas, line ends and doubled quotes.
class Rows {
 public:
  explicit Rows(std::string_view text) : rest_(text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (rest_.starts_with(mark)) rest_.remove_prefix(mark.size());
  }

  // The fields of the next row; empty at the end.
  std::vector<std::string> next() {
    line_ = next_line_;
    std::vector<std::string> fields;
    if (rest_.empty()) return fields;
    fields.emplace_back();
    bool quoted = false;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      next_line_ += c == '\n';
      if (c == '"' && quoted && rest_.starts_with('"')) {
        fields.back() += c;
        rest_.remove_prefix(1);
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        fields.emplace_back();
      } else if (c == '\n' && !quoted) {
        break;
      } else {
        fields.back() += c;
      }
    }
    if (fields.back().ends_with('\r')) fields.back().pop_back();
    return fields;
  }
  std::size_t line() const { return line_; }  // in which the row of next() begins

 private:
  std::string_view rest_;
  std::size_t line_ = 1, next_line_ = 1;
};

// Where columns are; `missing` where there is none.
constexpr std::size_t missing = static_cast<std::size_t>(-1);
struct Columns {
  explicit Columns(const std::vector<std::string>& header) {
    const auto index = [&](std::string_view name) {
      const auto found = std::ranges::find_if(
          header, [&](const std::string& field) { return trimmed(field) == name; });
      return found == header.end() ? missing : static_cast<std::size_t>(found - header.begin());
    };
    image = index("image");
    box = {index("x"), index("y"), index("w"), index("h")};
    label = index("label");
    if (label == missing) label = index("cascade");
    last = std::max(image, *std::ranges::max_element(box));
  }
  bool is_complete() const { return last != missing; }

  std::size_t image, label, last;  // last: of those that every row must have
  std::array<std::size_t, 4> box;
};

bool recognises(const AnnotationSource& source) {
  constexpr std::size_t longest_header = 64 << 10;
  return Columns(Rows(std::string_view(source.text).substr(0, longest_header)).next())
      .is_complete();
}

// nullopt if the row is none.
std::optional<Box> box_of(const std::vector<std::string>& row, const Columns& columns) {
  const auto field = [&](int i) -> const std::string& { return row[columns.box[i]]; };
  return parse_box(field(0), field(1), field(2), field(3));
}

void read(const AnnotationSource& source, AnnotationCollector& found) {
  Rows rows(source.text);
  const Columns columns(rows.next());
  for (auto row = rows.next(); !row.empty(); row = rows.next()) {
    if (row.size() == 1 && trimmed(row.front()).empty()) continue;
    const Place place{source.path, rows.line()};
    if (row.size() <= columns.last || row[columns.image].empty()) {
      found.leave_out(place, "the row has no image, or too few fields, so it is left out");
      continue;
    }
    const auto is_empty = [&](std::size_t column) { return trimmed(row[column]).empty(); };
    if (std::ranges::all_of(columns.box, is_empty)) {
      found.picture(row[columns.image]);
      continue;
    }
    const std::optional<Box> box = box_of(row, columns);
    if (!box) {
      found.leave_out(place, "x, y, w and h are not all numbers, so the row is left out");
      continue;
    }
    const bool has_label = columns.label < row.size();
    found.add(found.picture(row[columns.image]),
              {.box = *box, .label = has_label ? row[columns.label] : "", .ignored = false}, place);
  }
}

}  // namespace

const AnnotationReader csv_annotations{"CSV with the columns image,x,y,w,h", recognises, read};

}  // namespace facesat::training

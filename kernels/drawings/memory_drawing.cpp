#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "kernels/drawings/drawing.hpp"
#include "kernels/drawings/sheet.hpp"

namespace facesat::drawings {
namespace {

// All lengths are pixels.
constexpr int map_width = 168, map_height = 112, gap = 28, line = 13, per_row = 4;
constexpr int column = map_width + gap;

struct Colours {
  const char *read, *written, *both;
};
constexpr Colours strong{"#2f7fc1", "#d9722e", "#8a55a5"}, pale{"#cfe0ef", "#f6dcc8", "#e3d5ea"};
constexpr const char* untouched = "#f0f0f0";

bool has(const std::vector<unsigned>& blocks, unsigned block) {
  return std::ranges::find(blocks, block) != blocks.end();
}

const char* colour_of(const Element& element, unsigned example) {
  const auto choose = [](const Colours& colours, bool reads, bool writes) {
    return reads && writes ? colours.both : writes ? colours.written : colours.read;
  };
  const bool reads = has(element.reads, example), writes = has(element.writes, example);
  if (reads || writes) return choose(strong, reads, writes);
  if (element.reads.empty() && element.writes.empty()) return untouched;
  return choose(pale, !element.reads.empty(), !element.writes.empty());
}

// The last block that wrote the element; -1: none.
int writer_of(const Element& element) {
  return element.writes.empty() ? -1 : static_cast<int>(element.writes.back());
}

// The block in strong colours: of the buffer that most blocks write to, the one that writes the
// middle of a picture or, where that is the first tile, which needs no other, its end; of an array,
// what is at two thirds of it.
unsigned example_of(const std::vector<Buffer>& buffers, const Launch& launch) {
  unsigned example = launch.blocks() * 2 / 3;
  std::size_t most = 1;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    std::set<int> writers;
    for (const Element& element : launch.buffers[i]) writers.insert(writer_of(element));
    writers.erase(-1);
    if (writers.size() <= most) continue;
    const Size size = buffers[i].size;
    const std::size_t middle =
        buffers[i].is_array()
            ? launch.buffers[i].size() * 2 / 3
            : static_cast<std::size_t>(size.height / 2) * size.width + size.width / 2;
    int writer = writer_of(launch.buffers[i][middle]);
    if (writer == writer_of(launch.buffers[i].front()) && !buffers[i].is_array())
      writer = writer_of(launch.buffers[i].back());
    if (writer < 0) continue;
    most = writers.size();
    example = static_cast<unsigned>(writer);
  }
  return example;
}

// Equal neighbours, as one rectangle.
struct Area {
  int x, y, width, height;
  const char* colour;
  int writer;
};

class Map {
 public:
  Map(const std::vector<Element>& elements, int row_length, unsigned example)
      : elements_(elements),
        example_(example),
        row_length_(row_length),
        rows_(static_cast<int>((elements.size() + row_length - 1) / row_length)) {}

  int row_length() const { return row_length_; }
  int rows() const { return rows_; }

  std::vector<Area> areas() const {
    std::vector<Area> areas, above;  // those that end in the row before
    for (int y = 0; y < rows_; ++y) {
      std::vector<Area> now;
      for (int x = 0; x < row_length_ && at(x, y);) {
        Area area{x, y, 1, 1, colour_of(*at(x, y), example_), writer_of(*at(x, y))};
        while (x + area.width < row_length_ && is_like(area, at(x + area.width, y))) ++area.width;
        x += area.width;
        now.push_back(area);
      }
      for (Area& area : now) {
        const auto continued = std::ranges::find_if(above, [&](const Area& a) {
          return std::tie(a.x, a.width, a.colour, a.writer) ==
                 std::tie(area.x, area.width, area.colour, area.writer);
        });
        if (continued == above.end()) continue;
        area.y = continued->y;
        area.height += continued->height;
        above.erase(continued);
      }
      areas.insert(areas.end(), above.begin(), above.end());
      above = std::move(now);
    }
    areas.insert(areas.end(), above.begin(), above.end());
    return areas;
  }

 private:
  const Element* at(int x, int y) const {
    const std::size_t i = static_cast<std::size_t>(y) * row_length_ + x;
    return i < elements_.size() ? &elements_[i] : nullptr;
  }
  bool is_like(const Area& area, const Element* element) const {
    return element && colour_of(*element, example_) == area.colour &&
           writer_of(*element) == area.writer;
  }

  const std::vector<Element>& elements_;
  unsigned example_;
  int row_length_, rows_;
};

// The row length of each buffer. Arrays have no width: they are drawn with that row length, of
// those that pictures have, that shows all launches most simply.
std::vector<int> row_lengths(const std::vector<Buffer>& buffers,
                             const std::vector<Launch>& launches) {
  std::vector<int> lengths;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const int longest = buffers[i].size.width;
    if (!buffers[i].is_array()) {
      lengths.push_back(longest);
      continue;
    }
    int best = 8;
    while (2 * best * best < 3 * longest) best *= 2;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (const Buffer& other : buffers)
      if (!other.is_array())
        for (const int length : {other.size.width, other.size.height}) {
          std::size_t areas = 0;
          for (const Launch& launch : launches)
            areas += Map(launch.buffers[i], length, example_of(buffers, launch)).areas().size();
          if (areas < fewest) fewest = areas, best = length;
        }
    lengths.push_back(std::max(1, std::min(best, longest)));
  }
  return lengths;
}

// "picture: 1 read, 0.50 writes": per element of a picture, of an array in total.
std::string caption(const Buffer& buffer, const std::vector<Element>& elements) {
  double reads = 0, writes = 0;
  for (const Element& element : elements)
    reads += static_cast<double>(element.reads.size()),
        writes += static_cast<double>(element.writes.size());
  std::vector<std::string> parts;
  for (const auto& [total, what] : {std::pair{reads, "read"}, std::pair{writes, "write"}}) {
    const double n = buffer.is_array() ? total : total / static_cast<double>(elements.size());
    if (n > 0)
      parts.push_back(fmt::format("{:.{}f} {}{}", n,
                                  n == std::round(n) ? 0
                                  : n < 0.1          ? 3
                                                     : 2,
                                  what, n == 1 ? "" : "s"));
  }
  return fmt::format("{}: {}", buffer.name, fmt::join(parts, ", "));
}

// Draws a map with its caption; returns where it ends.
int draw_map(Sheet& sheet, const Map& map, const Buffer& buffer,
             const std::vector<Element>& elements, int left, int top) {
  sheet.text(left, top + line - 3, 10, caption(buffer, elements));
  top += line;
  const double scale = std::min({static_cast<double>(map_width) / map.row_length(),
                                 static_cast<double>(map_height) / map.rows(), 14.0}),
               // Arrays of few rows would hardly be seen.
      row_scale = buffer.is_array() ? std::max(scale, std::min(5.0, 60.0 / map.rows())) : scale;
  for (const Area& area : map.areas()) {
    // Narrow lines stay between the parts of different blocks.
    const double line_width = std::min(0.2 * scale, 1.0), w = area.width * scale - line_width,
                 h = area.height * row_scale - line_width;
    sheet.rectangle(left + area.x * scale, top + area.y * row_scale, w, h, area.colour);
    if (area.writer >= 0 && w >= 14 && h >= 11)
      sheet.text(left + area.x * scale + w / 2, top + area.y * row_scale + h / 2 + 3, 9,
                 fmt::format("{}", area.writer), Sheet::Anchor::middle);
  }
  return top + static_cast<int>(map.rows() * row_scale + 0.999);
}

bool is_touched(const std::vector<Element>& elements) {
  return std::ranges::any_of(
      elements, [](const Element& e) { return !e.reads.empty() || !e.writes.empty(); });
}

// Draws a launch, with its buffers below or beside each other; returns where it ends.
int draw_launch(Sheet& sheet, const std::vector<Buffer>& buffers, const std::vector<int>& lengths,
                const Launch& launch, std::size_t number, int left, bool beside_each_other) {
  int top = gap / 2;
  sheet.text(
      left, top + line - 3, 11,
      fmt::format("{}. {}", number, launch.kernel.substr(0, launch.kernel.rfind("_kernel"))));
  top += line;
  const unsigned blocks = launch.blocks(), example = example_of(buffers, launch);
  sheet.text(left, top + line - 3, 10,
             blocks == 1 ? fmt::format("1 block of {} thread{}", launch.threads(),
                                       launch.threads() == 1 ? "" : "s")
                         : fmt::format("{} blocks of {} threads; strong: {}", blocks,
                                       launch.threads(), example));
  top += line + 3;
  int bottom = top;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::vector<Element>& elements = launch.buffers[i];
    if (!is_touched(elements)) continue;
    const Map map(elements, lengths[i], example);
    bottom = std::max(bottom, draw_map(sheet, map, buffers[i], elements, left, top) + 6);
    if (beside_each_other)
      left += column;
    else
      top = bottom;
  }
  return bottom;
}

}  // namespace

std::string draw_memory(const std::vector<Buffer>& buffers, const std::vector<Launch>& launches) {
  const std::size_t count = launches.size();
  std::vector<std::size_t> shown;
  if (count <= per_row)
    for (std::size_t i = 0; i < count; ++i) shown.push_back(i);
  else
    shown = {0, 1, count / 2, count - 1};
  const auto touched = [](const Launch& launch) {
    return std::ranges::count_if(launch.buffers, is_touched);
  };
  const int columns = count == 1 ? static_cast<int>(touched(launches[0]))
                                 : static_cast<int>(shown.size()),
            width = std::max(columns, 2) * column + gap;
  Sheet sheet(width);
  const std::vector<int> lengths = row_lengths(buffers, launches);
  int bottom = 0;
  for (std::size_t i = 0; i < shown.size(); ++i)
    bottom = std::max(bottom, draw_launch(sheet, buffers, lengths, launches[shown[i]], shown[i] + 1,
                                          gap + static_cast<int>(i) * column, count == 1));
  int x = gap;
  for (const auto& [colour, what, space] : {std::tuple{strong.read, "read", 50},
                                            {strong.written, "written", 65},
                                            {strong.both, "both", 50}}) {
    sheet.rectangle(x, bottom + 4, 9, 9, colour);
    sheet.text(x + 13, bottom + 12, 10, what);
    x += space;
  }
  sheet.text(x, bottom + 12, 10, "by one block; pale: by the others");
  if (shown.size() < count)
    sheet.text(width - gap, bottom + 12, 10, fmt::format("{} of {} launches", shown.size(), count),
               Sheet::Anchor::end);
  return sheet.finish(bottom + gap + 6);
}

}  // namespace facesat::drawings

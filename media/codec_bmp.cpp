#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "media/codec_formats.hpp"

namespace facesat {
namespace {

[[noreturn]] void fail(const char* reason) {
  throw InputError("decode", fmt::format("this BMP cannot be decoded: {}", reason));
}

class BmpReader {
 public:
  explicit BmpReader(std::span<const unsigned char> file) : file_(file) {}

  void seek(std::size_t at) { at_ = at; }
  void skip(std::size_t bytes) { at_ += bytes; }

  std::span<const unsigned char> bytes(std::size_t count) {
    if (at_ > file_.size() || count > file_.size() - at_) fail("the file ends early");
    at_ += count;
    return file_.subspan(at_ - count, count);
  }
  int u8() { return bytes(1)[0]; }
  int u16() {
    const auto two = bytes(2);
    return two[0] | two[1] << 8;
  }
  std::uint32_t u32() {
    const std::uint32_t low = static_cast<std::uint32_t>(u16());
    return low | static_cast<std::uint32_t>(u16()) << 16;
  }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }

 private:
  std::span<const unsigned char> file_;
  std::size_t at_ = 0;
};

enum Compression { plain, rle8, rle4, bit_fields };

struct Header {
  std::size_t pixels = 0;  // where they begin
  Size size;
  bool is_top_down = false;
  int bits = 0;  // per pixel; 15 of 16: five of each colour
  Compression compression = plain;
  std::array<Bgr, 256> palette{};

  std::size_t bytes_per_row() const {
    const int stored = bits == 15 ? 16 : bits;
    return (static_cast<std::size_t>(size.width) * stored + 31) / 32 * 4;
  }
};

bool is_known(int bits, int compression) {
  switch (bits) {
    case 1:
    case 24:
      return compression == plain;
    case 4:
      return compression == plain || compression == rle4;
    case 8:
      return compression == plain || compression == rle8;
    case 16:
    case 32:
      return compression == plain || compression == bit_fields;
    default:
      return false;
  }
}

void read_palette(BmpReader& reader, Header& header, int colours, std::size_t bytes_per_colour) {
  const auto bytes = reader.bytes(static_cast<std::size_t>(colours) * bytes_per_colour);
  for (std::size_t i = 0; i < static_cast<std::size_t>(colours); ++i) {
    const auto entry = bytes.subspan(i * bytes_per_colour);
    header.palette[i] = {entry[0], entry[1], entry[2]};
  }
}

// Of the masks that can say which bits each colour has, OpenCV knows two, and reads them after the
// header, even if that contains them. It ignores those of 32-bit pixels.
void read_masks(BmpReader& reader, Header& header) {
  const std::uint32_t red = reader.u32(), green = reader.u32(), blue = reader.u32();
  if (red == 0x7C00 && green == 0x3E0 && blue == 0x1F)
    header.bits = 15;
  else if (red != 0xF800 || green != 0x7E0 || blue != 0x1F)
    fail("its colours have other bits than five, six and five, or five of each");
}

// The header of OS/2 has 12 bytes; all others begin like that of Windows, which has 40.
constexpr std::uint32_t os2_header = 12, least_header = 36;

void read_os2_header(BmpReader& reader, Header& header) {
  header.size.width = reader.u16();
  header.size.height = reader.u16();
  reader.skip(2);  // planes
  header.bits = reader.u16();
  if (header.size.area() == 0) fail("its width or height is 0");
  if (header.bits == 16 || !is_known(header.bits, plain)) fail("its pixels are of an unknown kind");
  if (header.bits <= 8) read_palette(reader, header, 1 << header.bits, 3);
}

void read_windows_header(BmpReader& reader, Header& header, std::uint32_t bytes) {
  header.size.width = reader.i32();
  const std::int32_t height = reader.i32();
  header.is_top_down = height < 0;
  reader.skip(2);  // planes
  header.bits = reader.u16();
  const std::uint32_t compression = reader.u32();
  reader.skip(12);
  const std::uint32_t colours = reader.u32();
  if (header.size.width <= 0 || height == 0 || height == INT32_MIN)
    fail("its width or height is not allowed");
  header.size.height = std::abs(height);
  if (compression > bit_fields || !is_known(header.bits, static_cast<int>(compression)))
    fail("its pixels are of an unknown kind, or compressed in an unknown way");
  header.compression = static_cast<Compression>(compression);
  reader.skip(bytes - least_header);
  if (header.bits <= 8) {
    if (colours > header.palette.size()) fail("it has more than 256 colours");
    read_palette(reader, header, colours == 0 ? 1 << header.bits : static_cast<int>(colours), 4);
  } else if (header.bits == 16 && header.compression == bit_fields) {
    read_masks(reader, header);
  } else if (header.bits == 16) {
    header.bits = 15;
  }
}

Header read_header(BmpReader& reader) {
  Header header;
  reader.skip(10);
  const std::int32_t pixels = reader.i32();
  const std::uint32_t bytes = reader.u32();
  const bool is_os2 = bytes == os2_header;
  if (pixels < 0 || (!is_os2 && bytes < least_header) || bytes > INT32_MAX)
    fail("its header has an unknown size");
  header.pixels = static_cast<std::size_t>(pixels);
  if (is_os2)
    read_os2_header(reader, header);
  else
    read_windows_header(reader, header, bytes);
  return header;
}

// Rows in the order of the file.
class Rows {
 public:
  Rows(const Header& header, View<Bgr> pixels) : header_(header), pixels_(pixels) {}

  Size size() const { return pixels_.size; }
  Bgr* row(int y) const {
    return pixels_.row(header_.is_top_down ? y : pixels_.size.height - 1 - y);
  }

 private:
  const Header& header_;
  View<Bgr> pixels_;
};

// Without rounding, as OpenCV does it: the lowest bits are 0.
Bgr from_bits(int pixel, int bits) {
  const auto channel = [](int value) { return static_cast<std::uint8_t>(value); };
  if (bits == 15)
    return {channel(pixel << 3 & 0xF8), channel(pixel >> 2 & 0xF8), channel(pixel >> 7 & 0xF8)};
  return {channel(pixel << 3 & 0xF8), channel(pixel >> 3 & 0xFC), channel(pixel >> 8 & 0xF8)};
}

void read_row(const Header& header, std::span<const unsigned char> from, Bgr* to) {
  const auto width = static_cast<std::size_t>(header.size.width);
  const auto bits = static_cast<std::size_t>(header.bits);
  if (bits <= 8) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t shift = 8 - bits - x * bits % 8;
      to[x] = header.palette[from[x * bits / 8] >> shift & ((1u << bits) - 1)];
    }
  } else if (bits <= 16) {
    for (std::size_t x = 0; x < width; ++x)
      to[x] = from_bits(from[2 * x] | from[2 * x + 1] << 8, header.bits);
  } else {
    const unsigned char* pixel = from.data();
    for (std::size_t x = 0; x < width; ++x, pixel += bits / 8)
      to[x] = {pixel[0], pixel[1], pixel[2]};
  }
}

// The position in a run-length encoded picture.
class RlePixels {
 public:
  RlePixels(const Header& header, const Rows& rows, const DecodeLimits& limits)
      : header_(header), rows_(rows), limits_(limits) {}

  bool is_full() const { return y_ >= rows_.size().height; }
  int width() const { return rows_.size().width; }
  int y() const { return y_; }
  int rest_of_row() const { return rows_.size().width - x_; }
  std::int64_t rest_of_picture() const {
    return rest_of_row() + std::int64_t{rows_.size().height - y_} * rows_.size().width;
  }

  // Within a row; afterwards the position may be at its end.
  void add(int index) { rows_.row(y_)[x_++] = header_.palette[static_cast<std::size_t>(index)]; }
  void require_room(int pixels) const {
    if (pixels > rest_of_row()) fail("a run is longer than its row");
  }

  // Over ends of rows; afterwards the position is not at an end.
  void fill(std::int64_t count, int index) {
    do {
      const int here = static_cast<int>(std::min<std::int64_t>(count, rest_of_row()));
      std::fill_n(rows_.row(y_) + x_, here, header_.palette[static_cast<std::size_t>(index)]);
      x_ += here;
      count -= here;
      if (rest_of_row() > 0) continue;
      check_stop(limits_.should_stop);
      x_ = 0;
      ++y_;
    } while (count > 0 && !is_full());
  }

 private:
  const Header& header_;
  const Rows& rows_;
  const DecodeLimits& limits_;
  int x_ = 0, y_ = 0;
};

// The second byte after a 0; a larger one is the number of pixels that follow unencoded.
enum Escape { end_of_row, end_of_picture, jump };

// OpenCV takes the end of the picture for the end of a row, and the vertical distance of a jump
// for 0.
void read_rle4(BmpReader& reader, RlePixels& to) {
  while (!to.is_full()) {
    const int count = reader.u8(), code = reader.u8();
    if (count > 0) {
      to.require_room(count);
      for (int i = 0; i < count; ++i) to.add(i % 2 == 0 ? code >> 4 : code & 15);
    } else if (code > jump) {
      to.require_room(code);
      const auto bytes = reader.bytes(static_cast<std::size_t>(code + 3) / 4 * 2);
      for (int i = 0; i < code; ++i) {
        const int two = bytes[static_cast<std::size_t>(i / 2)];
        to.add(i % 2 == 0 ? two >> 4 : two & 15);
      }
    } else {
      int distance = to.rest_of_row();
      if (code == jump) {
        distance = reader.u8();
        reader.u8();
      }
      to.fill(distance, 0);
    }
  }
}

// A run that fills its row goes on to the next one, where the end of the row is then ignored.
void read_rle8(BmpReader& reader, RlePixels& to) {
  bool was_row_filled = false;
  while (!to.is_full()) {
    const int count = reader.u8(), code = reader.u8(), y = to.y();
    if (count > 0) {
      to.require_room(count);
      to.fill(count, code);
      was_row_filled = to.y() > y;
      continue;
    }
    if (code > jump) {
      to.require_room(code);
      const auto bytes = reader.bytes(static_cast<std::size_t>(code + 1) / 2 * 2);
      for (int i = 0; i < code; ++i) to.add(bytes[static_cast<std::size_t>(i)]);
    } else if (code == end_of_picture) {
      to.fill(to.rest_of_picture(), 0);
    } else if (code == jump) {
      const int right = reader.u8(), down = reader.u8();
      to.fill(right + std::int64_t{down} * to.width(), 0);
    } else if (!was_row_filled || to.rest_of_row() < to.width()) {
      to.fill(to.rest_of_row(), 0);
    }
    was_row_filled = false;
  }
}

}  // namespace

Picture read_bmp(std::span<const unsigned char> file, const DecodeLimits& limits) {
  BmpReader reader(file);
  const Header header = read_header(reader);
  check_size(header.size, limits);
  const bool is_plain = header.compression != rle4 && header.compression != rle8;
  const auto height = static_cast<std::size_t>(header.size.height);
  reader.seek(header.pixels);
  if (is_plain) {
    reader.bytes(header.bytes_per_row() * height);  // a huge frame is not made for a short file
    reader.seek(header.pixels);
  }
  const NewFrame<Bgr> frame = new_frame<Bgr>(header.size);
  const Rows rows(header, frame.pixels);
  RlePixels pixels(header, rows, limits);
  if (header.compression == rle4)
    read_rle4(reader, pixels);
  else if (header.compression == rle8)
    read_rle8(reader, pixels);
  else
    for (int y = 0; y < header.size.height; ++y) {
      check_stop(limits.should_stop);
      read_row(header, reader.bytes(header.bytes_per_row()), rows.row(y));
    }
  return to_picture(frame);
}

}  // namespace facesat

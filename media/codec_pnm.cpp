#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdint>

#include <fmt/format.h>

#include "core/cpu/gray.hpp"
#include "media/codec_formats.hpp"

namespace facesat {
namespace {

[[noreturn]] void fail(const char* reason) {
  throw InputError("decode", fmt::format("this PNM cannot be decoded: {}", reason));
}

// Reads bytes and numbers as OpenCV does.
class PnmReader {
 public:
  explicit PnmReader(std::span<const unsigned char> file) : rest_(file) {}

  std::span<const unsigned char> rest() const { return rest_; }

  std::span<const unsigned char> bytes(std::size_t count) {
    if (count > rest_.size()) fail("the file ends early");
    const auto result = rest_.first(count);
    rest_ = rest_.subspan(count);
    return result;
  }

  // The next number, after any space and comments. The byte after it is consumed, too, and must be
  // there, even at the end of the file; with `max_digits`, that many digits end the number.
  int number(int max_digits = INT_MAX) {
    unsigned char c = byte();
    while (!std::isdigit(c)) {
      if (c == '#')
        while (c != '\n' && c != '\r') c = byte();
      else if (!std::isspace(c))
        fail("a number is missing");
      c = byte();
    }
    std::int64_t value = 0;
    for (int digits = 1;; ++digits) {
      value = 10 * value + c - '0';
      if (value > INT_MAX) fail("a number is too large");
      if (digits == max_digits) break;
      c = byte();
      if (!std::isdigit(c)) break;
    }
    return static_cast<int>(value);
  }

 private:
  unsigned char byte() { return bytes(1)[0]; }

  std::span<const unsigned char> rest_;
};

struct Header {
  char kind;  // '1' .. '6'
  Size size;
  int maximum = 1;

  bool is_text() const { return kind <= '3'; }
  bool is_bitmap() const { return kind == '1' || kind == '4'; }
  bool is_wide() const { return maximum > UINT8_MAX; }  // 16 bits per sample
  int channels() const { return kind == '3' || kind == '6' ? 3 : 1; }
  std::size_t samples_per_row() const { return static_cast<std::size_t>(size.width) * channels(); }
  // The least number of bytes that a row takes.
  std::size_t bytes_per_row() const {
    if (kind == '4') return (samples_per_row() + 7) / 8;
    return samples_per_row() * (is_wide() || (is_text() && !is_bitmap()) ? 2 : 1);
  }
};

Header read_header(PnmReader& reader, const DecodeLimits& limits) {
  Header header{static_cast<char>(reader.bytes(2)[1]), {}};
  if (!std::isspace(reader.rest().empty() ? 0 : reader.rest()[0])) fail("it has no size");
  header.size.width = reader.number();
  header.size.height = reader.number();
  if (!header.is_bitmap()) header.maximum = reader.number();
  if (header.size.area() == 0) fail("its width or height is 0");
  if (header.maximum == 0 || header.maximum > UINT16_MAX)
    fail("its maximum value is not between 1 and 65535");
  check_size(header.size, limits);
  return header;
}

// Samples of text are scaled to 0 .. 255; those of more than 8 bits are reduced to their upper 8.
void read_text(PnmReader& reader, const Header& header, std::span<std::uint8_t> to) {
  for (std::uint8_t& sample : to)
    if (header.is_bitmap()) {
      sample = reader.number(1) != 0 ? 0 : UINT8_MAX;
    } else {
      const int value = std::min(reader.number(), header.maximum);
      sample = static_cast<std::uint8_t>(header.is_wide() ? value >> 8
                                                          : value * UINT8_MAX / header.maximum);
    }
}

// The samples of the next row, in `memory` or in the file. Binary samples of up to 8 bits are not
// scaled, whatever their maximum.
const std::uint8_t* read_row(PnmReader& reader, const Header& header,
                             std::span<std::uint8_t> memory) {
  if (header.is_text()) {
    read_text(reader, header, memory);
    return memory.data();
  }
  const unsigned char* const from = reader.bytes(header.bytes_per_row()).data();
  if (header.is_bitmap())
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = (from[i / 8] << i % 8 & 0x80) != 0 ? 0 : UINT8_MAX;
  else if (header.is_wide())
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = from[2 * i];
  else
    return from;
  return memory.data();
}

// To as many pixels as `to` has.
void convert_row(const std::uint8_t* from, int channels, std::span<Bgr> to) {
  if (channels == 3)
    cpu::reverse_colours(reinterpret_cast<const Rgb*>(from), to);
  else
    std::transform(from, from + to.size(), to.begin(), [](std::uint8_t v) { return Bgr{v, v, v}; });
}

const char* warning_of(const Header& header, std::span<const unsigned char> rest) {
  const bool has_another =
      rest.size() > 2 && rest[0] == 'P' && rest[1] == header.kind && std::isspace(rest[2]);
  return has_another ? only_first_picture : "";
}

}  // namespace

Picture read_pnm(std::span<const unsigned char> file, const DecodeLimits& limits) {
  PnmReader reader(file);
  const Header header = read_header(reader, limits);
  if (reader.rest().size() / header.bytes_per_row() < static_cast<std::size_t>(header.size.height))
    fail("the file ends early");
  const NewFrame<Bgr> frame = new_frame<Bgr>(header.size);
  std::vector<std::uint8_t> samples(header.samples_per_row());
  for (int y = 0; y < header.size.height; ++y) {
    check_stop(limits.should_stop);
    convert_row(read_row(reader, header, samples), header.channels(),
                {frame.pixels.row(y), static_cast<std::size_t>(header.size.width)});
  }
  Picture picture = to_picture(frame);
  picture.warning = warning_of(header, reader.rest());
  return picture;
}

std::optional<PixelsInFile> pixels_in_pnm(std::span<const unsigned char> file,
                                          const DecodeLimits& limits) {
  PnmReader reader(file);
  const Header header = read_header(reader, limits);
  if (header.is_text() || header.is_bitmap() || header.is_wide()) return std::nullopt;
  const std::size_t row = header.samples_per_row();
  const auto samples = reader.bytes(row * static_cast<std::size_t>(header.size.height));
  return PixelsInFile{{.pixels = samples.data(),
                       .size = header.size,
                       .pitch = static_cast<std::ptrdiff_t>(row),
                       .format = header.channels() == 3 ? PixelFormat::rgb : PixelFormat::gray},
                      nullptr,
                      warning_of(header, reader.rest())};
}

}  // namespace facesat

#include "library/media/exif.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace facesat {
namespace {

// Markers of JPEG, each preceded by a byte 0xFF.
enum : unsigned char { TEM = 0x01, RST0 = 0xD0, RST7 = 0xD7, SOI, EOI, SOS, APP1 = 0xE1 };

// Is this one of the markers, apart from SOI and EOI, that no segment follows?
constexpr bool stands_alone(unsigned char marker) {
  return marker == TEM || (marker >= RST0 && marker <= RST7);
}

constexpr std::uint16_t orientation_tag = 0x112;

// Is the value of this tag a text?
constexpr bool is_text(std::uint16_t tag) {
  switch (tag) {
    case 0x10E:   // ImageDescription
    case 0x10F:   // Make
    case 0x110:   // Model
    case 0x131:   // Software
    case 0x132:   // DateTime
    case 0x8298:  // Copyright
      return true;
    default:
      return false;
  }
}

// The number of rational numbers in the value of a tag; 0 for tags of other types.
constexpr std::uint32_t rationals(std::uint16_t tag) {
  switch (tag) {
    case 0x11A:  // XResolution
    case 0x11B:  // YResolution
      return 1;
    case 0x13E:  // WhitePoint
      return 2;
    case 0x211:  // YCbCrCoefficients
      return 3;
    case 0x13F:  // PrimaryChromaticities
    case 0x214:  // ReferenceBlackWhite
      return 6;
    default:
      return 0;
  }
}

// Reads numbers at offsets into the EXIF data. Most offsets come from the data themselves, so all
// are checked; they have 64 bits, so that their sums do not overflow.
class ExifReader {
 public:
  // Data that do not begin with "II" are read as big-endian, even if they do not begin with "MM".
  explicit ExifReader(std::span<const unsigned char> data)
      : data_(data), little_endian_(data.size() >= 2 && data[0] == 'I' && data[1] == 'I') {}

  // nullopt if the number does not lie within the data.
  std::optional<std::uint16_t> u16(std::uint64_t at) const {
    if (!holds(at, 2)) return std::nullopt;
    const unsigned first = data_[at], second = data_[at + 1];
    return static_cast<std::uint16_t>(little_endian_ ? first | second << 8 : first << 8 | second);
  }
  std::optional<std::uint32_t> u32(std::uint64_t at) const {
    if (!holds(at, 4)) return std::nullopt;
    const std::uint32_t first = *u16(at), second = *u16(at + 2);
    return little_endian_ ? first | second << 16 : first << 16 | second;
  }

  // Does the value that an entry refers to lie within the data? Its type is taken from the tag,
  // whatever the entry says; only tags of the types above are checked.
  bool has_value(std::uint16_t tag, std::uint64_t entry) const {
    constexpr std::uint32_t most_in_entry = 4, bytes_of_rational = 8;
    const std::uint32_t bytes =
        is_text(tag) ? u32(entry + 4).value_or(0) : bytes_of_rational * rationals(tag);
    if (bytes <= most_in_entry) return true;
    const std::optional<std::uint32_t> at = u32(entry + 8);
    return at && holds(*at, bytes);
  }

 private:
  bool holds(std::uint64_t at, std::uint64_t bytes) const { return at + bytes <= data_.size(); }

  std::span<const unsigned char> data_;
  bool little_endian_;
};

// The value of the first orientation entry, whatever its type and count. The directory is read up
// to the first value that lies outside the data. The data begin with a TIFF header: byte order, the
// number 0x2A and the offset of the directory. An entry has a tag, a type, a count (at byte 4), and
// the value or its offset (at byte 8).
std::optional<std::uint16_t> find_orientation(const ExifReader& exif) {
  constexpr std::uint64_t bytes_of_count = 2, bytes_of_entry = 12;
  if (exif.u16(2) != 0x2A) return std::nullopt;
  const std::optional<std::uint32_t> directory = exif.u32(4);
  if (!directory) return std::nullopt;
  const unsigned entries = exif.u16(*directory).value_or(0);
  for (unsigned i = 0; i < entries; ++i) {
    const std::uint64_t entry = *directory + bytes_of_count + i * bytes_of_entry;
    const std::optional<std::uint16_t> tag = exif.u16(entry);
    if (tag == orientation_tag) return exif.u16(entry + 8);
    if (!tag || !exif.has_value(*tag, entry)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

// The EXIF data are in the first APP1 segment before the first scan. Its signature is not checked:
// if XMP comes before EXIF, no orientation is found. Segments are located as libjpeg does.
std::span<const unsigned char> exif_in_jpeg(std::span<const unsigned char> file) {
  constexpr std::size_t bytes_of_length = 2, bytes_of_signature = 6;
  if (file.size() < 2 || file[0] != 0xFF || file[1] != SOI) return {};
  for (std::span rest = file.subspan(2);;) {
    const auto prefix = std::ranges::find(rest, 0xFF);
    const auto code = std::find_if(prefix, rest.end(), [](unsigned char c) { return c != 0xFF; });
    if (code == rest.end() || *code == SOS || *code == EOI) return {};
    rest = {code + 1, rest.end()};
    if (*code == 0 || stands_alone(*code)) continue;  // 0: not a marker, but a data byte 0xFF
    if (rest.size() < bytes_of_length) return {};
    const std::size_t length = rest[0] << 8 | rest[1];
    const bool is_damaged = length < bytes_of_length;  // libjpeg continues after the length
    const auto segment = rest.first(std::min(std::max(length, bytes_of_length), rest.size()));
    if (*code == APP1 && !is_damaged)
      return segment.subspan(std::min(bytes_of_length + bytes_of_signature, segment.size()));
    rest = rest.subspan(segment.size());
  }
}

int exif_orientation(std::span<const unsigned char> exif) {
  const int orientation = find_orientation(ExifReader(exif)).value_or(1);
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

}  // namespace facesat

#include "media/exif.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "core/orientation.hpp"

namespace facesat {
namespace {

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

template <class Pixel>
Picture turned(View<const Pixel> from, int orientation) {
  const NewFrame<Pixel> to = new_frame<Pixel>(upright_size(from.size, orientation));
  const Size size = to.pixels.size;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const PixelPlace place = place_before(x, y, size, orientation);
      to.pixels.row(y)[x] = from.row(place.y)[place.x];
    }
  return to_picture(to);
}

}  // namespace

int exif_orientation(std::span<const unsigned char> exif) {
  const int orientation = find_orientation(ExifReader(exif)).value_or(0);
  return orientation >= 1 && orientation <= 8 ? orientation : 0;
}

// An entry of the directory gives the bytes and the offset of the list of pictures, each of which
// has 16 bytes and begins with its type.
bool has_only_previews(std::span<const unsigned char> index) {
  constexpr std::uint16_t list_tag = 0xB002;
  constexpr std::uint32_t bytes_of_picture = 16, type = 0xFF0000, preview = 0x010000;
  const ExifReader reader(index);
  const std::uint64_t directory = reader.u32(4).value_or(0);
  const unsigned entries = reader.u16(directory).value_or(0);
  for (unsigned i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + 12 * i;
    if (reader.u16(entry) != list_tag) continue;
    const std::uint32_t bytes = reader.u32(entry + 4).value_or(0);
    const std::uint64_t list = reader.u32(entry + 8).value_or(0);
    for (std::uint64_t at = bytes_of_picture; at < bytes; at += bytes_of_picture)
      if ((reader.u32(list + at).value_or(0) & type) != preview) return false;
    return bytes > bytes_of_picture;
  }
  return false;
}

Picture upright(Picture picture, int orientation) {
  picture.orientation = orientation;
  if (orientation <= 1) return picture;
  Picture result =
      picture.luma.data ? turned(picture.luma, orientation) : turned(picture.pixels, orientation);
  result.warning = std::move(picture.warning);
  result.orientation = orientation;
  return result;
}

}  // namespace facesat

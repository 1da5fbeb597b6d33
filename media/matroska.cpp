#include "media/matroska.hpp"

#include <bit>
#include <cstddef>

namespace facesat {
namespace {

// The first bytes of the two parts of a file.
constexpr std::string_view header_id = "\x1A\x45\xDF\xA3", segment_id = "\x18\x53\x80\x67";

// An EBML size of n bytes: n - 1 zero bits, a one bit, and the value in the other 7 n bits; all
// ones: unknown.
struct DataSize {
  std::uint64_t value = 0;
  std::size_t bytes = 0;  // the length of the size field itself
  bool is_known = true;
};

std::optional<DataSize> data_size(std::string_view text) {
  if (text.empty() || text[0] == 0) return std::nullopt;
  const auto first = static_cast<unsigned char>(text[0]);
  DataSize size;
  size.bytes = static_cast<std::size_t>(std::countl_zero(first)) + 1;
  if (text.size() < size.bytes) return std::nullopt;
  size.value = first & (0xFFU >> size.bytes);
  for (std::size_t i = 1; i < size.bytes; ++i)
    size.value = size.value << 8 | static_cast<unsigned char>(text[i]);
  size.is_known = size.value != (std::uint64_t{1} << 7 * size.bytes) - 1;
  return size;
}

}  // namespace

bool is_matroska(std::string_view beginning) {
  return beginning.starts_with(header_id);
}

// The file consists of a header and a segment, each with its size.
std::optional<std::uint64_t> matroska_size(std::string_view beginning) {
  std::uint64_t end = 0;
  for (const std::string_view id : {header_id, segment_id}) {
    if (end > beginning.size() || !beginning.substr(end).starts_with(id)) return std::nullopt;
    const std::optional<DataSize> size = data_size(beginning.substr(end + id.size()));
    if (!size || !size->is_known) return std::nullopt;
    end += id.size() + size->bytes + size->value;
  }
  return end;
}

}  // namespace facesat

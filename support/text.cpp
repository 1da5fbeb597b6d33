#include "support/text.hpp"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "support/errors.hpp"

namespace facesat {
namespace {

// The length and code point of the well-formed UTF-8 sequence at the beginning of `text`; 0 if
// there is none.
std::size_t decode(std::string_view text, std::uint32_t& code_point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) {
    code_point = byte(0);
    return 1;
  }
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return 0;
  code_point = byte(0) & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code_point = code_point << 6 | (byte(i) & 0x3F);
  }
  // The least code point that needs each length.
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code_point >= 0xD800 && code_point < 0xE000;
  return code_point < least[length] || code_point > 0x10FFFF || is_surrogate ? 0 : length;
}

// Control characters, line and paragraph separators, and characters that change the direction of
// the text around them.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t length = decode(text, code_point);
    const std::string_view bytes = text.substr(0, length == 0 ? 1 : length);
    if (length > 0 && !is_control(code_point))
      result += bytes;
    else
      for (const char c : bytes) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    text.remove_prefix(bytes.size());
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t length = decode(text, code_point);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Size parse_size(const std::string& text) {
  const char *at = text.data(), *end = at + text.size();
  const auto number = [&](int& value) {
    const auto [rest, error] = std::from_chars(at, end, value);
    at = rest;
    return error == std::errc() && value >= 0;
  };
  Size size;
  bool valid = number(size.width);
  size.height = size.width;
  if (valid && at != end)
    valid = (*at == 'x' || *at == 'X') && (++at, number(size.height)) && at == end;
  if (!valid) throw UsageError(fmt::format("expected N or WxH in pixels, not \"{}\"", text));
  return size;
}

}  // namespace facesat

#include "media/picture_signature.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace facesat {
namespace {

using namespace std::string_view_literals;

constexpr char any = '?';  // in signatures: stands for every byte

constexpr std::array signatures{
    "\xFF\xD8\xFF"sv,  // JPEG
    "\x89PNG"sv,
    "GIF87a"sv,
    "GIF89a"sv,
    "BM????\0\0\0\0????\x0C\0\0\0"sv,  // BMP: its header has one of these lengths
    "BM????\0\0\0\0????\x28\0\0\0"sv,
    "BM????\0\0\0\0????\x34\0\0\0"sv,
    "BM????\0\0\0\0????\x38\0\0\0"sv,
    "BM????\0\0\0\0????\x40\0\0\0"sv,
    "BM????\0\0\0\0????\x6C\0\0\0"sv,
    "BM????\0\0\0\0????\x7C\0\0\0"sv,
    "RIFF????WEBP"sv,
    "II*\0"sv,  // TIFF
    "MM\0*"sv,
    "II+\0"sv,  // BigTIFF
    "MM\0+"sv,
    "\0\0\0\x0CjP  \r\n\x87\n"sv,  // JPEG 2000
    "\xFF\x4F\xFF\x51"sv,          // its code stream alone
    "????ftypavi"sv,               // AVIF, HEIF
    "????ftyphe"sv,
    "????ftypmif"sv,
    "????ftypmsf"sv,
    "\0\0\0\x0CJXL \r\n\x87\n"sv,  // JPEG XL
    "\xFF\x0A"sv,
    "\x76\x2F\x31\x01"sv,  // OpenEXR
    "\x59\xA6\x6A\x95"sv,  // Sun raster
    "#?RADIANCE\n"sv,      // HDR
    "#?RGBE\n"sv,
};

Match match(std::string_view signature, std::string_view text) {
  const std::size_t common = std::min(signature.size(), text.size());
  for (std::size_t i = 0; i < common; ++i)
    if (signature[i] != any && signature[i] != text[i]) return Match::no;
  return common == signature.size() ? Match::yes : Match::unknown;
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// A PNM file begins with "P1" to "P6", a PFM file with "PF" or "Pf". Numbers follow, with white
// space and comments in front of each: width and height, and in most formats the largest value.
Match match_pnm(std::string_view text) {
  constexpr std::string_view kinds = "14Ff2356", with_two_numbers = "14Ff";
  if (!text.empty() && text[0] != 'P') return Match::no;
  if (text.size() < 2) return Match::unknown;
  if (kinds.find(text[1]) == kinds.npos) return Match::no;
  std::size_t at = 2;
  for (int left = with_two_numbers.find(text[1]) != kinds.npos ? 2 : 3; left > 0; --left) {
    const std::size_t before = at;
    while (at < text.size() && (is_space(text[at]) || text[at] == '#'))
      at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
    if (at == text.size()) return Match::unknown;
    if (at == before || !is_digit(text[at])) return Match::no;
    while (at < text.size() && is_digit(text[at])) ++at;
  }
  return at == text.size() ? Match::unknown : is_space(text[at]) ? Match::yes : Match::no;
}

}  // namespace

Match match_picture(std::string_view beginning) {
  Match best = match_pnm(beginning);
  for (const std::string_view signature : signatures) {
    const Match one = match(signature, beginning);
    if (one == Match::yes || best == Match::yes) return Match::yes;
    if (one == Match::unknown) best = one;
  }
  return best;
}

}  // namespace facesat

#include "media/stamp.hpp"

#include <charconv>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using namespace std::string_view_literals;

// The position of the mark in a format, after the header: in JPEG after the JFIF segment, in PNG
// after the signature and the IHDR chunk.
struct Place {
  std::string_view signature;
  std::size_t at;
};
constexpr Place in_jpeg{"\xFF\xD8\xFF\xE0\x00\x10JFIF"sv, 20}, in_png{"\x89PNG\r\n\x1A\n"sv, 33};

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

// The length of a JPEG comment has 16 bits and includes its own two bytes.
std::string as_comment(const std::string& text) {  // marker, length, text
  return "\xFF\xFE" + big_endian(static_cast<std::uint32_t>(text.size() + 2)).substr(2) + text;
}

std::string as_chunk(const std::string& text) {  // length, type, keyword, text, checksum
  const std::string data = "Software\0"s + text, body = "tEXt" + data;
  const uLong crc =
      ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(crc));
}

std::string mark_text(std::uint64_t check, std::uint64_t of_input) {
  return fmt::format("facesat {:016x} {:016x}", check, of_input);
}

// The input of the first mark in `text`.
std::optional<std::uint64_t> input_in(std::string_view text) {
  const std::size_t number = text.find("facesat ") + 8 + 17;  // after the first number and a space
  std::uint64_t of_input = 0;
  if (number + 16 > text.size()) return std::nullopt;
  std::from_chars(text.data() + number, text.data() + number + 16, of_input, 16);
  return of_input;
}

// The mark for a file that, without the mark, consists of `head` and `tail`.
std::string mark(std::string_view head, std::string_view tail, std::uint64_t of_input,
                 const Place& place) {
  const std::string text = mark_text(checksum(tail, checksum(head, of_input)), of_input);
  return place.at == in_jpeg.at ? as_comment(text) : as_chunk(text);
}

std::size_t mark_size(const Place& place) {
  return mark("", "", 0, place).size();
}

// Null if the file has another format.
const Place* place_in(std::string_view file) {
  for (const Place* place : {&in_jpeg, &in_png})
    if (file.starts_with(place->signature) && file.size() >= place->at) return place;
  return nullptr;
}

// The input that the mark records; nullopt if there is no mark, or if the file has changed.
std::optional<std::uint64_t> find_stamp(std::string_view file) {
  const Place* const place = place_in(file);
  if (!place || file.size() < place->at + mark_size(*place)) return std::nullopt;
  const std::string_view head = file.substr(0, place->at), rest = file.substr(place->at);
  const std::string_view found = rest.substr(0, mark_size(*place));
  const std::optional<std::uint64_t> of_input = input_in(found);
  if (!of_input || found != mark(head, rest.substr(found.size()), *of_input, *place))
    return std::nullopt;
  return of_input;
}

// The same for a video.
std::optional<std::uint64_t> find_video_stamp(const fs::path& video) {
  const std::size_t length = video_stamp(video, 0, 0).size();
  std::error_code error;
  const std::uintmax_t size = fs::file_size(video, error);
  if (length == 0 || error || size < length) return std::nullopt;
  std::string tail(length, '\0');
  std::ifstream in(video, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(size - length));
  in.read(tail.data(), static_cast<std::streamsize>(length));
  const std::optional<std::uint64_t> of_input = input_in(tail);
  if (!of_input || tail != video_stamp(video, size - length, *of_input)) return std::nullopt;
  return of_input;
}

// Whole videos are not read, they may be large.
std::optional<std::uint64_t> find_stamp_in(const fs::path& file) {
  if (!video_stamp(file, 0, 0).empty()) return find_video_stamp(file);
  return find_stamp(as_text(read_file(file)));
}

}  // namespace

std::uint64_t stamp_of_input(const fs::path& input) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(input, error).parent_path(), error);
  return checksum((folder / input.filename()).string());
}

void stamp(std::vector<unsigned char>& file, std::uint64_t of_input) {
  const std::string_view text = as_text(file);
  const Place* const place = place_in(text);
  if (!place) return;
  const std::string bytes =
      mark(text.substr(0, place->at), text.substr(place->at), of_input, *place);
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(place->at), bytes.begin(), bytes.end());
}

std::string video_stamp(const fs::path& video, std::uint64_t size, std::uint64_t of_input) {
  const std::string text = mark_text(size, of_input);
  const auto length = static_cast<char>(text.size());
  if (has_extension(video, {".mp4", ".m4v", ".mov"}))  // a box: its length, its type
    return big_endian(static_cast<std::uint32_t>(8 + text.size())) + "free" + text;
  if (has_extension(video, {".avi"}))  // a chunk: its type, the length of its data, padding
    return "JUNK"s + length + "\0\0\0"s + text + (text.size() % 2 ? "\0"s : "");
  if (has_extension(video, {".mkv"}))  // a Void element: its ID, the length of its data
    return "\xEC"s + static_cast<char>(0x80 | text.size()) + text;
  return "";
}

bool is_stamped(const fs::path& file) {
  return !has_contents(file) || find_stamp_in(file).has_value();
}

bool is_stamped_for(const fs::path& file, std::uint64_t of_input) {
  return find_stamp_in(file) == of_input;
}

bool are_same_but_for_stamp(std::span<const unsigned char> a, std::span<const unsigned char> b) {
  const std::string_view first = as_text(a), second = as_text(b);
  const Place* const place = place_in(first);
  if (!place || !find_stamp(first) || !find_stamp(second)) return first == second;
  const std::size_t end = place->at + mark_size(*place);
  return first.substr(0, place->at) == second.substr(0, place->at) &&
         first.substr(end) == second.substr(end);
}

}  // namespace facesat

#include "core/cascade_storage.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>

#include "core/cascade_storage_reader.hpp"
#include "facesat/types.hpp"

namespace facesat {
namespace {

// Messages quote parts of the file; characters that a terminal could act on are replaced.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// Whether `word`, in lower case, is among the first characters of the text.
bool begins_with_word(std::string_view text, std::string_view word) {
  const std::string_view first = text.substr(0, 1024);
  return std::search(first.begin(), first.end(), word.begin(), word.end(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
         }) != first.end();
}

constexpr const char* is_web_page =
    "this is a web page (HTML), not one of OpenCV's cascade files; download the file itself, on "
    "GitHub by its button \"Raw\"";

// What is wrong with a text in none of the formats.
const char* describe_other(std::string_view text) {
  if (text.empty()) return "this file is empty; expected one of OpenCV's cascade files";
  if (begins_with_word(text, "<html") || begins_with_word(text, "<!doctype html"))
    return is_web_page;
  if (text.starts_with("404: Not Found"))
    return "this is the answer of a web server that did not find the file";
  if (text.starts_with("version https://git-lfs"))
    return "this is a pointer of Git LFS, not the file itself; 'git lfs pull' fetches that";
  return "this is not one of OpenCV's cascade files: expected a text that begins with \"<?xml\", "
         "\"%YAML\" or \"{\"";
}

// A stream of zlib, for gzip alone.
struct Inflater {
  z_stream stream{};
  Inflater() { inflateInit2(&stream, 16 + MAX_WBITS); }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

}  // namespace

std::string SourceText::message(std::size_t offset, const std::string& what) const {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return fmt::format("{}, line {}: {}", name, 1 + std::count(text.begin(), end, '\n'),
                     printable(what));
}
void SourceText::fail(std::size_t offset, const std::string& what) const {
  throw CascadeError(message(offset, what));
}

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

// A file may consist of several compressed ones; what follows them is ignored, as by gzip.
std::string inflated(std::string_view bytes, const std::string& name, std::size_t most) {
  std::string text;
  while (is_gzip(bytes)) {
    Inflater inflater;
    z_stream& z = inflater.stream;
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z.avail_in = static_cast<uInt>(bytes.size());
    int status = Z_OK;
    while (status == Z_OK) {
      std::array<char, 1 << 16> part;
      z.next_out = reinterpret_cast<Bytef*>(part.data());
      z.avail_out = static_cast<uInt>(part.size());
      status = inflate(&z, Z_NO_FLUSH);
      text.append(part.data(), part.size() - z.avail_out);
      if (text.size() > most)
        throw CascadeError(
            fmt::format("{}: the uncompressed file is larger than {} MiB; no cascade of OpenCV is",
                        name, most >> 20));
    }
    if (status != Z_STREAM_END)
      throw CascadeError(
          fmt::format("{}: this compressed file is damaged or incomplete (gzip)", name));
    bytes.remove_prefix(bytes.size() - z.avail_in);
  }
  return text;
}

std::vector<StorageNode> read_storage(const SourceText& source) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  const std::string_view text = source.text.substr(source.text.starts_with(mark) ? 3 : 0);
  const auto read = text.starts_with("<?xml")   ? read_xml
                    : text.starts_with("%YAML") ? read_yaml
                    : text.starts_with("{")     ? read_json
                                                : nullptr;
  if (!read) source.fail(0, describe_other(text));
  if (const std::size_t zero = source.text.find('\0'); zero != source.text.npos)
    source.fail(zero, "this is not a text: it has bytes of value 0");
  if (read == read_xml && begins_with_word(text, "<html")) source.fail(0, is_web_page);
  return read(source);
}

// ---- StorageReader ------------------------------------------------------------------------------

void StorageReader::next_line() {
  const std::size_t end = source_.text.find('\n', at_);
  at_ = line_ = std::min(end, source_.text.size() - 1) + 1;
}

void StorageReader::skip_blanks(bool tabs) {
  while (peek() == ' ' || (tabs && peek() == '\t')) ++at_;
}

StorageReader::Nested::Nested(StorageReader& reader) : reader_(reader) {
  constexpr int deepest = 1000;  // readers recurse; cascades have 9 levels
  if (++reader.depth_ > deepest)
    reader.fail(fmt::format("values are nested more than {} deep", deepest));
}

StorageReader::Index StorageReader::open(std::size_t name_offset, std::size_t name_length) {
  constexpr std::size_t most = 1 << 22;  // bounds the memory; 16 MiB of numbers have fewer
  if (nodes_.size() == most) fail(fmt::format("the file has more than {} values", most));
  if (name_length > std::numeric_limits<std::uint16_t>::max()) fail("a name is too long");
  StorageNode& node = nodes_.emplace_back();
  node.name_offset = static_cast<std::uint32_t>(name_offset);
  node.name_length = static_cast<std::uint16_t>(name_length);
  node.offset = static_cast<std::uint32_t>(at_);
  return nodes_.size() - 1;
}

void StorageReader::close(Index index) {
  nodes_[index].extent = static_cast<std::uint32_t>(nodes_.size() - index);
}

void StorageReader::become(Index index, Kind kind) {
  nodes_[index].kind = kind;
}

void StorageReader::set_word(Index index, std::size_t begin, std::size_t end) {
  nodes_[index].kind = Kind::word;
  nodes_[index].offset = static_cast<std::uint32_t>(begin);
  nodes_[index].length = static_cast<std::uint32_t>(end - begin);
}

bool StorageReader::begins_number() const {
  const char c = peek(), d = peek(1);
  return is_digit(c) || ((c == '-' || c == '+') && (is_digit(d) || d == '.')) ||
         (c == '.' && is_alphanumeric(d));
}

// A real number: what C's strtod() reads in the locale "C", or one of OpenCV's words .Inf and .Nan.
double StorageReader::real() {
  const char* const begin = source_.text.data() + at_;
  const char* const end = source_.text.data() + source_.text.size();
  const bool negative = *begin == '-';
  const char* const digits = begin + (negative || *begin == '+');
  double value = 0;
  auto [rest, error] = std::from_chars(digits, end, value);
  if (error == std::errc::result_out_of_range) {  // too large, or too small
    long double wide = std::numeric_limits<long double>::infinity();
    std::from_chars(digits, end, wide);
    value = static_cast<double>(wide);
  } else if (error != std::errc() || (rest != end && is_letter(*rest)) || is_letter(*digits)) {
    const std::string_view special(digits, std::min<std::ptrdiff_t>(4, end - digits));
    if (special == ".Inf" || special == ".inf" || special == ".INF")
      value = std::numeric_limits<double>::infinity();
    else if (special == ".Nan" || special == ".nan" || special == ".NaN" || special == ".NAN")
      value = std::numeric_limits<double>::quiet_NaN();
    else
      fail(fmt::format("expected a number, found \"{}\"",
                       std::string_view(begin, std::min<std::ptrdiff_t>(16, end - begin))));
    rest = special.data() + special.size();
  }
  at_ = static_cast<std::size_t>(rest - source_.text.data());
  return negative ? -value : value;
}

// An integer: what strtol() reads with base 0 (0x10 is 16, 010 is 8), saturated to 64 bits and then
// cut to 32.
double StorageReader::integer(bool& wrapped) {
  const char* const end = source_.text.data() + source_.text.size();
  const bool negative = peek() == '-';
  if (negative || peek() == '+') ++at_;
  const bool is_hex = peek() == '0' && (peek(1) | 0x20) == 'x' && is_hex_digit(peek(2));
  const int base = is_hex ? 16 : peek() == '0' ? 8 : 10;
  if (is_hex) at_ += 2;
  std::uint64_t magnitude = 0;
  const auto [rest, error] = std::from_chars(source_.text.data() + at_, end, magnitude, base);
  if (error == std::errc::invalid_argument)
    fail(fmt::format("expected a number, found \"{}\"", source_.text.substr(at_, 16)));
  at_ = static_cast<std::size_t>(rest - source_.text.data());
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max() + std::uint64_t{negative};
  if (error == std::errc::result_out_of_range || magnitude > most) magnitude = most;
  const auto value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  const auto kept = static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  wrapped = kept != value;
  return kept;
}

void StorageReader::read_number(Index index) {
  const std::size_t begin = at_;
  std::size_t ahead = peek() == '-' || peek() == '+';
  while (is_digit(peek(ahead))) ++ahead;
  StorageNode& node = nodes_[index];
  node.number = peek(ahead) == '.' || peek(ahead) == 'e' ? real() : integer(node.wrapped);
  node.kind = Kind::number;
  node.offset = static_cast<std::uint32_t>(begin);
  node.length = static_cast<std::uint32_t>(at_ - begin);
}

}  // namespace facesat

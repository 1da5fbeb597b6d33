// OpenCV's JSON: with comments, commas before closing brackets and anywhere between names, names
// without escapes, and the numbers of its other formats ("1.", "+1", ".5").
#include "core/cascade_storage_reader.hpp"

namespace facesat {
namespace {

class JsonReader : StorageReader {
 public:
  using StorageReader::StorageReader;

  std::vector<StorageNode> read() {
    at_ = source_.text.find('{');  // after a byte order mark
    value(open());
    return std::move(nodes_);  // OpenCV ignores what follows
  }

 private:
  // White space and comments, which must not be followed by the end of the file.
  void skip_space() {
    while (true) {
      skip_blanks(true);
      if (at_end()) fail("the file ends before its last value does");
      if (starts("//")) {
        while (!is_line_end(peek())) ++at_;
      } else if (starts("/*")) {
        const std::size_t end = source_.text.find("*/", at_ + 2);
        if (end == source_.text.npos) fail("this comment has no end");
        at_ = end + 2;
      } else if (is_line_end(peek())) {
        next_line();
      } else if (is_printable(peek())) {
        return;
      } else {
        fail("a control character is not allowed here");
      }
    }
  }

  void value(Index index) {
    const Nested nested(*this);
    const char c = peek();
    if (c == '{')
      collection(index, Kind::map, '}');
    else if (c == '[')
      collection(index, Kind::sequence, ']');
    else if (c == '"')
      word(index);
    else if (is_digit(c) || c == '-' || c == '+' || c == '.')
      read_number(index);
    else
      boolean(index);
    close(index);
  }

  void collection(Index index, Kind kind, char end) {
    become(index, kind);
    ++at_;
    for (skip_space(); peek() != end; skip_space()) {
      if (peek() != ',' || kind == Kind::sequence) {
        part(kind);
        skip_space();
      }
      if (peek() == ',')
        ++at_;
      else if (peek() != end)
        fail(kind == Kind::map ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    ++at_;
  }

  void part(Kind kind) {
    if (kind == Kind::sequence) return value(open());
    if (peek() != '"') fail("expected a name in quotes");
    const std::size_t begin = ++at_;
    while (is_printable(peek()) && peek() != '"') ++at_;
    if (peek() != '"' || at_ == begin) fail("expected a name in quotes");
    const std::size_t length = at_++ - begin;
    skip_space();
    if (peek() != ':') fail("expected ':' after a name");
    ++at_;
    skip_space();
    value(open(begin, length));
  }

  void word(Index index) {
    const std::size_t begin = ++at_;
    for (; peek() != '"'; ++at_) {
      if (is_line_end(peek())) fail("expected '\"' at the end of a word");
      if (peek() == '\\') escape();
    }
    set_word(index, begin, at_);
    ++at_;
    if (source_.text.substr(begin).starts_with("$base64$"))
      fail("values in base64 are not supported");
  }
  void escape() {
    ++at_;
    if (std::string_view("\\\"'nrtbf").find(peek()) == std::string_view::npos)
      fail("OpenCV does not know this escape in a word");
  }

  void boolean(Index index) {
    const std::size_t begin = at_;
    while (is_letter(peek())) ++at_;
    const std::string_view text = source_.text.substr(begin, at_ - begin);
    if (text != "true" && text != "false") {
      at_ = begin;
      fail("expected a number, a word in quotes, '[' or '{'");
    }
    StorageNode& node = nodes_[index];
    node.kind = Kind::number;
    node.number = text == "true";
    node.length = static_cast<std::uint32_t>(text.size());
  }
};

}  // namespace

std::vector<StorageNode> read_json(const SourceText& source) {
  return JsonReader(source).read();
}

}  // namespace facesat

// OpenCV's XML: elements, comments, and numbers and words between white space. An element named "_"
// is part of a sequence. Attributes but type_id say nothing; there are no empty tags (<a/>), CDATA
// sections and document types.
#include <fmt/format.h>

#include "core/cascade_storage_reader.hpp"

namespace facesat {
namespace {

class XmlReader : StorageReader {
 public:
  using StorageReader::StorageReader;

  std::vector<StorageNode> read() {
    at_ = source_.text.find('<');  // after a byte order mark
    tag();
    const Index root = open();
    become(root, Kind::map);
    bool is_first = true;
    for (skip_space(); !at_end() || is_first; skip_space(), is_first = false) {
      if (at_end()) fail("the file ends before <opencv_storage>");
      const std::size_t begin = at_;
      const Tag start = tag();
      if (start.kind != '<' || start.name != "opencv_storage") {
        at_ = begin;
        fail("expected <opencv_storage>, in which OpenCV stores its data");
      }
      contents(root, "", start);  // of several, the first element is the first one's
    }
    close(root);
    return std::move(nodes_);
  }

 private:
  // kind: < of an opening tag, / of a closing one, ? of a declaration.
  struct Tag {
    char kind;
    std::string_view name;
    std::size_t name_offset;
    std::string_view type_id;
  };

  static bool is_name(char c) { return is_alphanumeric(c) || c == '_' || c == '-'; }

  // White space and comments.
  void skip_space() {
    while (true) {
      skip_blanks(true);
      if (starts("<!--"))
        skip_comment();
      else if (at_end() || is_printable(peek()))
        return;
      else if (is_line_end(peek()))
        next_line();
      else
        fail("a control character is not allowed here");
    }
  }
  void skip_comment() {
    const std::size_t end = source_.text.find("-->", at_ + 4);
    if (end == source_.text.npos) fail("this comment has no end");
    // The line in which it ends is the current one for next_line().
    at_ = end + 3;
  }
  void skip_space_in_tag() {
    skip_blanks(true);
    while (!at_end() && is_line_end(peek())) next_line(), skip_blanks(true);
  }

  std::string_view name() {
    const std::size_t begin = at_;
    if (!is_letter(peek()) && peek() != '_') fail("expected a name, which begins with a letter");
    while (is_name(peek())) ++at_;
    return source_.text.substr(begin, at_ - begin);
  }

  Tag tag() {
    if (at_end()) fail("the file ends before its last element does");
    if (peek() != '<') fail("expected a tag");
    ++at_;
    Tag tag{'<', {}, {}, {}};
    if (peek() == '/' || peek() == '?') tag.kind = source_.text[at_++];
    tag.name_offset = at_;
    tag.name = name();
    while (true) {
      const bool has_space = peek() == ' ' || peek() == '\t' || is_line_end(peek());
      skip_space_in_tag();
      if (starts(tag.kind == '?' ? "?>" : ">")) {
        at_ += tag.kind == '?' ? 2 : 1;
        return tag;
      }
      if (starts("/>")) fail("OpenCV knows no empty tags: expected <name></name>");
      if (!has_space || tag.kind == '/') fail("expected the end of a tag");
      attribute(tag);
    }
  }

  void attribute(Tag& tag) {
    const bool is_type = name() == "type_id";
    skip_space_in_tag();
    if (peek() != '=') fail("expected '=' after the name of an attribute");
    ++at_;
    skip_space_in_tag();
    const char quote = peek();
    if (quote != '"' && quote != '\'') fail("expected the value of an attribute in quotes");
    const std::size_t begin = ++at_;
    while (peek() != quote && peek() != '\n' && !at_end()) ++at_;
    if (peek() != quote) fail("the value of an attribute does not end in its line");
    if (is_type) tag.type_id = source_.text.substr(begin, at_ - begin);
    ++at_;
  }

  // What follows an opening tag, up to the end of its closing tag.
  void contents(Index index, std::string_view type, const Tag& start) {
    const Nested nested(*this);
    const bool is_word = type == "str";
    if (type == "seq") become(index, Kind::sequence);
    if (type == "map") become(index, Kind::map);
    if (type == "binary") fail("values in base64 are not supported");
    bool has_space = true;
    while (true) {
      if (is_line_end(peek()) || peek() == ' ' || peek() == '\t' || starts("<!-")) {
        skip_space();
        has_space = true;
      }
      if (at_end() || starts("</")) break;
      if (peek() == '<') {
        element(index);
        has_space = true;
      } else {
        if (!has_space) fail("expected white space between two values");
        literal(index, is_word);
        if (is_word) break;
        has_space = false;
      }
    }
    const std::size_t begin = at_;
    const Tag end = tag();
    if (end.kind == '/' && end.name == start.name) return;
    at_ = begin;
    fail(fmt::format("expected the end of <{}>", start.name.substr(0, 64)));
  }

  void element(Index parent) {
    const std::size_t begin = at_;
    const Tag start = tag();
    if (start.kind != '<') fail("a declaration is not allowed here");
    const bool is_part = start.name == "_";
    add_to(parent, is_part ? Kind::sequence : Kind::map, begin);
    const Index index = is_part ? open() : open(start.name_offset, start.name.size());
    nodes_[index].offset = static_cast<std::uint32_t>(begin);
    contents(index, start.type_id, start);
    close(index);
  }

  // Makes a collection of a value that gets another part: of one number, a sequence of numbers.
  void add_to(Index parent, Kind kind, std::size_t place) {
    const StorageNode before = nodes_[parent];
    if (before.kind == kind) return;
    if (before.kind == Kind::nothing) return become(parent, kind);
    if (before.kind == Kind::sequence || kind == Kind::map || before.kind == Kind::map) {
      at_ = place;
      fail("elements named \"_\" or values stand beside named elements");
    }
    become(parent, Kind::sequence);
    const Index first = open();
    nodes_[first] = before;
    nodes_[first].name_length = 0;
  }

  // A number or a word.
  void literal(Index index, bool is_word) {
    if (nodes_[index].kind != Kind::nothing) {
      add_to(index, Kind::sequence, at_);
      index = open();
    }
    if (!is_word && begins_number())
      read_number(index);
    else
      word(index);
  }
  // To the end of a character's name or number, such as &lt; or &#60;.
  void skip_reference() {
    ++at_;
    if (is_printable(peek())) ++at_;
    while (is_alphanumeric(peek())) ++at_;
    if (peek() != ';') fail("expected ';' at the end of a reference");
  }
  void word(Index index) {
    const bool is_quoted = peek() == '"';
    const std::size_t begin = at_ += is_quoted;
    for (;; ++at_) {
      const char c = peek();
      if (c == '"' || !is_printable(c) || c == '<' || (!is_quoted && c == ' ')) break;
      if (c == '\'' || c == '>') fail("quotes and '>' are not allowed in a word");
      if (c == '&') skip_reference();
    }
    if (is_quoted != (peek() == '"'))
      fail(is_quoted ? "expected '\"' at the end of a word" : "'\"' is not allowed in a word");
    set_word(index, begin, at_);
    at_ += is_quoted;
  }
};

}  // namespace

std::vector<StorageNode> read_xml(const SourceText& source) {
  return XmlReader(source).read();
}

}  // namespace facesat

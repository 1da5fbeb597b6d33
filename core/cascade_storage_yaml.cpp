// OpenCV's YAML: blocks by indentation and flows in brackets, where names need no space after their
// colon. A sequence in a block is indented further than its name.
#include <fmt/format.h>

#include "core/cascade_storage_reader.hpp"

namespace facesat {
namespace {

class YamlReader : StorageReader {
 public:
  using StorageReader::StorageReader;

  std::vector<StorageNode> read() {
    at_ = line_ = source_.text.find('%');  // after a byte order mark
    skip_head();
    const Index root = open();
    value(root, 0, false);
    if (nodes_[root].kind != Kind::map && nodes_[root].kind != Kind::sequence)
      source_.fail(nodes_[root].offset, "expected names and values, or a sequence");
    skip_space(0);
    if (!at_end() && !starts("...") && !starts("---")) fail("expected the end of the document");
    return std::move(nodes_);
  }

 private:
  std::size_t column() const { return at_ - line_; }

  // Directives (%YAML:1.0), and the beginning of the first document.
  void skip_head() {
    for (skip_space(0); peek() == '%'; next_line(), skip_space(0))
      if (starts("%YAML") && !starts("%YAML:1.") && !starts("%YAML 1."))
        fail("expected version 1 of YAML");
    if (starts("---")) at_ += 3;
    skip_space(0);
    if (at_end() || starts("...")) fail("the file ends before its first value");
  }

  // Spaces, comments and line ends; fails if the next character stands before a column.
  void skip_space(std::size_t least_column) {
    while (true) {
      skip_blanks(false);
      if (at_end()) return;
      const char c = peek();
      if (c == '#' || is_line_end(c)) {
        next_line();
      } else if (c == '\t') {
        fail("tabs are not allowed in YAML");
      } else if (!is_printable(c)) {
        fail("a control character is not allowed here");
      } else {
        if (column() < least_column)
          fail(fmt::format("wrong indentation: expected a value in column {} or after",
                           least_column + 1));
        return;
      }
    }
  }

  // `least`: the column before which no line of the value may begin.
  void value(Index index, std::size_t least, bool in_flow) {
    const Nested nested(*this);
    if (at_end()) fail("the file ends before its last value does");
    nodes_[index].offset = static_cast<std::uint32_t>(at_);
    const bool is_word = peek() == '!' && type(least);
    const char c = peek();
    if (c == '\'' || c == '"')
      quoted(index, c);
    else if (!is_word && begins_number())
      read_number(index);
    else if (!is_word && (c == '[' || c == '{'))
      flow(index, least + !in_flow);
    else if (!is_word && !in_flow && c == '-')
      block(index, Kind::sequence);
    else
      plain(index, in_flow, is_word);
    close(index);
  }

  // A type, such as !!opencv-cascade-classifier; returns whether it makes a word of the value.
  bool type(std::size_t least) {
    const std::size_t begin = at_;
    while (is_printable(peek()) && peek() != ' ') ++at_;
    const std::string_view name = source_.text.substr(begin, at_ - begin);
    if (name == "!!binary" || name.ends_with(":binary>"))
      fail("values in base64 are not supported");
    skip_space(least);
    if (at_end()) fail("the file ends before its last value does");
    return name == "!str";
  }

  void quoted(Index index, char quote) {
    const std::size_t begin = ++at_;
    for (;; ++at_) {
      if (!is_printable(peek())) fail("expected a quote at the end of a word");
      if (peek() == quote) {
        if (quote == '"' || peek(1) != quote) break;
        ++at_;  // two stand for one
      } else if (quote == '"' && peek() == '\\' && is_printable(peek(1))) {
        ++at_;
      }
    }
    set_word(index, begin, at_);
    ++at_;
  }

  // A word without quotes or, if a colon follows it, the first name of a block.
  void plain(Index index, bool in_flow, bool is_word) {
    const std::size_t begin = at_;
    if (!in_flow && !is_word && (peek() == '?' || peek() == '|' || peek() == '>'))
      fail("complex names and texts of several lines are not supported");
    const auto ends = [&](char c) {
      return in_flow ? c == ',' || c == '}' || c == ']' : c == ':' && !is_word;
    };
    while (is_printable(peek()) && !ends(peek())) ++at_;
    if (at_ == begin) fail("expected a value");
    if (!in_flow && !is_word && peek() == ':') {
      at_ = begin;
      return block(index, Kind::map);
    }
    set_word(index, begin, trimmed(begin));
  }

  // The end of what stands from `begin` to here, without spaces.
  std::size_t trimmed(std::size_t begin) const {
    std::size_t end = at_;
    while (end > begin && source_.text[end - 1] == ' ') --end;
    return end;
  }

  // The value of a name, which begins here.
  Index named() {
    const std::size_t begin = at_;
    if (peek() == '-') fail("a name must not begin with '-'");
    while (is_printable(peek()) && peek() != ':') ++at_;
    if (peek() != ':') fail("expected ':' after a name");
    const std::size_t length = trimmed(begin) - begin;
    if (length == 0) fail("expected a name before ':'");
    ++at_;
    return open(begin, length);
  }

  void flow(Index index, std::size_t least) {
    const bool is_map = peek() == '{';
    const char end = is_map ? '}' : ']';
    become(index, is_map ? Kind::map : Kind::sequence);
    ++at_;
    for (bool is_first = true;; is_first = false) {
      skip_space(least);
      if (peek() == end) break;
      if (!is_first) {
        if (peek() != ',') fail(fmt::format("expected ',' or '{}'", end));
        ++at_;
        skip_space(least);
      }
      const Index part = is_map ? named() : open();
      if (is_map) skip_space(least);
      value(part, least, true);
    }
    ++at_;
  }

  // Names or dashes, all in one column, each with a value that is indented further.
  void block(Index index, Kind kind) {
    become(index, kind);
    const std::size_t indent = column();
    while (true) {
      if (kind == Kind::sequence && peek() != '-') fail("expected '-' before a part of a sequence");
      at_ += kind == Kind::sequence;
      const Index part = kind == Kind::map ? named() : open();
      skip_space(indent + 1);
      value(part, indent + 1, false);
      skip_space(0);
      if (at_end() || column() < indent || starts("...")) return;
      if (column() > indent) fail("wrong indentation, or something follows a value in its line");
    }
  }
};

}  // namespace

std::vector<StorageNode> read_yaml(const SourceText& source) {
  return YamlReader(source).read();
}

}  // namespace facesat

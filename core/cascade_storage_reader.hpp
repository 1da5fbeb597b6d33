// What the readers of the three formats have in common. Internal to cascade_storage*.cpp.
#pragma once

#include "core/cascade_storage.hpp"

namespace facesat {

// A place in the text, and the values read so far.
class StorageReader {
 public:
  explicit StorageReader(const SourceText& source) : source_(source) {}

 protected:
  using Kind = StorageNode::Kind;
  using Index = std::size_t;  // of a value

  // ---- the text; 0 stands for its end, since it has no byte of this value
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.text.size() ? source_.text[at_ + ahead] : '\0';
  }
  bool starts(std::string_view what) const { return source_.text.substr(at_).starts_with(what); }
  bool at_end() const { return at_ >= source_.text.size(); }
  // To the beginning of the next line. OpenCV skips what follows a carriage return in its line.
  void next_line();
  // To the next character that is neither a space nor, if they are allowed, a tab.
  void skip_blanks(bool tabs);
  static bool is_line_end(char c) { return c == '\n' || c == '\r' || c == '\0'; }
  static bool is_printable(char c) { return static_cast<unsigned char>(c) >= ' '; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_hex_digit(char c) {
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
  }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static bool is_alphanumeric(char c) { return is_digit(c) || is_letter(c); }
  [[noreturn]] void fail(const std::string& what) const { source_.fail(at_, what); }

  // ---- values
  // Adds a value without contents, at this place, to the collection that is open. It has to be
  // closed once its contents are complete.
  Index open(std::size_t name_offset = 0, std::size_t name_length = 0);
  void close(Index index);
  // Makes a collection of a value without contents.
  void become(Index index, Kind kind);
  // Takes the text from `begin` to here as a word.
  void set_word(Index index, std::size_t begin, std::size_t end);
  // Whether a number begins here, as OpenCV decides it in XML and YAML.
  bool begins_number() const;
  // Reads a number; fails if there is none.
  void read_number(Index index);
  // Counts a level of nesting for its lifetime.
  class Nested {
   public:
    explicit Nested(StorageReader& reader);
    ~Nested() { --reader_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    StorageReader& reader_;
  };

  const SourceText& source_;
  std::size_t at_ = 0, line_ = 0;  // line_: where this line begins
  std::vector<StorageNode> nodes_;

 private:
  double real();
  double integer(bool& wrapped);
  int depth_ = 0;
};

std::vector<StorageNode> read_xml(const SourceText& source);
std::vector<StorageNode> read_yaml(const SourceText& source);
std::vector<StorageNode> read_json(const SourceText& source);

}  // namespace facesat

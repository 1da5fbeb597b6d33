// The contents of a cascade file, as OpenCV's FileStorage reads them from XML, YAML or JSON: a tree
// of numbers, words, sequences and maps. Says nothing about what a cascade is.
//
// OpenCV writes and reads dialects of the three formats: its XML knows no empty tags, its YAML has
// "key:1" without a space, its JSON has numbers such as "1." and comments. Whether a file is read
// here, and as which numbers, follows OpenCV 4.6, with these exceptions:
// - Refused here alone: values in base64, bytes of value 0, values nested more than 1000 deep,
//   commas before a closing bracket in YAML, YAML whose last value is missing, and integers of YAML
//   marked as such (!int 1.5).
// - Read here alone: a byte order mark before XML and YAML, words of any length, and whatever
//   follows the first document of YAML.
// - Words keep their escapes: "&#66;OOST" and "\x42OOST" are not "BOOST".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace facesat {

// A file's text, and the messages about it.
struct SourceText {
  std::string_view text;
  const std::string& name;

  // "name, line 3: what"; `offset` is the place in the text.
  std::string message(std::size_t offset, const std::string& what) const;
  [[noreturn]] void fail(std::size_t offset, const std::string& what) const;  // CascadeError
};

// One value. A file's values lie in an array in the file's order, so that the values inside of a
// sequence or map follow it directly.
struct StorageNode {
  enum class Kind : std::uint8_t { nothing, number, word, sequence, map };

  // As OpenCV has it: an integer of 32 bits (larger ones have wrapped around), or a real number,
  // which may be infinite or not a number.
  double number = 0;
  std::uint32_t offset = 0, length = 0;  // of the value in the text
  std::uint32_t name_offset = 0;
  std::uint32_t extent = 1;  // of the array: the value itself and all values inside
  std::uint16_t name_length = 0;
  Kind kind = Kind::nothing;
  bool wrapped = false;  // an integer that does not fit into 32 bits

  std::string_view name(const SourceText& source) const {
    return source.text.substr(name_offset, name_length);
  }
  std::string_view text(const SourceText& source) const {
    return source.text.substr(offset, length);
  }
};

// The values directly inside of a sequence or map; a number or word is a sequence of itself.
class StorageValues {
 public:
  explicit StorageValues(const StorageNode& node)
      : begin_(is_single(node) ? &node : &node + 1), end_(&node + node.extent) {}

  struct Iterator {
    const StorageNode* at;
    const StorageNode& operator*() const { return *at; }
    Iterator& operator++() {
      at += at->extent;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {begin_}; }
  Iterator end() const { return {end_}; }
  std::size_t count() const {
    std::size_t n = 0;
    for (auto i = begin(); i != end(); ++i) ++n;
    return n;
  }

 private:
  static bool is_single(const StorageNode& node) {
    return node.kind == StorageNode::Kind::number || node.kind == StorageNode::Kind::word;
  }
  const StorageNode *begin_, *end_;
};

// Whether a file's bytes are compressed; then inflated() is its text. Throws CascadeError if they
// are damaged, and for a text of more than `most` bytes.
bool is_gzip(std::string_view bytes);
std::string inflated(std::string_view bytes, const std::string& name, std::size_t most);

// The values of a file; the first one has all the others inside. Takes time and memory in
// proportion to the text, whatever it contains. Throws CascadeError.
std::vector<StorageNode> read_storage(const SourceText& source);

}  // namespace facesat

// A file that is read: opened once, so that what is recognised and what is decoded are the same.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace facesat {

class InputFile {
 public:
  // Throws InputError with the reason ("read", "decode"), unless `file` is a regular, readable,
  // non-empty file.
  explicit InputFile(const std::filesystem::path& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // The first bytes (128), which tell the format, and the size in bytes.
  std::string_view beginning() const { return beginning_; }
  std::size_t size() const { return size_; }

  // All bytes, or as many of them as can be read.
  std::vector<unsigned char> read() const;

 private:
  // Bytes from a place in the file on; returns how many could be read.
  std::size_t read_at(std::size_t from, void* to, std::size_t count) const;

  int descriptor_ = -1;
  std::size_t size_ = 0;
  std::string beginning_;
};

}  // namespace facesat

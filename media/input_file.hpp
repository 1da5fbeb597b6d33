// An input file, or its bytes in memory. It is opened only once, so that the file whose format is
// recognised is also the one that is decoded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace facesat {

// The bytes of a file, in memory of their own, which is kept for later files: new pages would cost
// more time than reading. See core/frame_memory.hpp.
struct FileBytes {
  std::span<const unsigned char> bytes;
  std::shared_ptr<const void> owner;

  operator std::span<const unsigned char>() const { return bytes; }
};

class InputFile {
 public:
  // Throws InputError("read") or InputError("decode") with the reason, unless `file` is a regular,
  // readable, non-empty file.
  explicit InputFile(const std::filesystem::path& file);
  // From bytes in memory (from an archive, a pipe). Throws InputError("memory").
  explicit InputFile(std::span<const unsigned char> bytes);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // The first bytes (up to 128), which identify the format, and the size in bytes.
  std::string_view beginning() const { return beginning_; }
  std::size_t size() const { return size_; }

  // All bytes, or as many of them as can be read. Throws MemoryError.
  FileBytes read() const;

  // A name for libraries that need one: it opens this very file as long as the object lives. Bytes
  // from memory become a file in memory, which the system counts as written by the program: throws
  // OutputError if the limit on the size of files (ulimit -f) does not allow that, and
  // InputError("memory") if there is no room. To be called by one thread at a time.
  std::string name() const;

 private:
  // Reads bytes at an offset; returns how many could be read.
  std::size_t read_at(std::size_t from, void* to, std::size_t count) const;

  void make_file() const;  // of bytes_

  mutable int descriptor_ = -1;
  FileBytes bytes_;  // those from memory
  std::size_t size_ = 0;
  std::string beginning_;
};

}  // namespace facesat

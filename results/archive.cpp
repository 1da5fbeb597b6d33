#include "results/archive.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/interrupt.hpp"

namespace facesat {

// The archive's file, open for as long as somebody may read from it.
class ArchiveFile {
 public:
  explicit ArchiveFile(const std::filesystem::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0)
      throw InputError("read", errno == ENOENT ? "no such file or folder" : std::strerror(errno));
    if (!S_ISREG(info.st_mode)) throw InputError("read", "this is not a regular file");
    // The file may have been replaced since: what counts is the one that is open.
    descriptor_ = Descriptor(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!descriptor_.is_open() || ::fstat(descriptor_.get(), &info) != 0)
      throw InputError("read", std::strerror(errno));
    size_ = static_cast<std::uint64_t>(info.st_size);
    version_ = version_of(descriptor_.get());
  }

  int descriptor() const { return descriptor_.get(); }
  std::uint64_t size() const { return size_; }
  const InputVersion& version() const { return version_; }  // when it was opened

  // The bytes of a member.
  std::vector<unsigned char> read(std::uint64_t from, std::uint64_t count) const {
    if (count > Archive::max_member_bytes)
      throw InputError("limit", fmt::format("this file has {} bytes; files in archives may have {}",
                                            count, Archive::max_member_bytes));
    if (from > size_ || count > size_ - from)
      throw InputError("read", "the archive ends before this file does");
    std::vector<unsigned char> bytes(count);
    if (read_at(from, bytes.data(), count) < count)
      throw InputError("read", "the archive has become shorter");
    return bytes;
  }

  // Up to `count` bytes, fewer only at the end.
  std::string text(std::uint64_t from, std::size_t count) const {
    std::string bytes(from < size_ ? std::min<std::uint64_t>(count, size_ - from) : 0, '\0');
    bytes.resize(read_at(from, bytes.data(), bytes.size()));
    return bytes;
  }

 private:
  // Returns how many bytes could be read.
  std::size_t read_at(std::uint64_t from, void* to, std::size_t count) const {
    std::size_t done = 0;
    while (done < count) {
      const ssize_t size = ::pread(descriptor_.get(), static_cast<char*>(to) + done, count - done,
                                   static_cast<off_t>(from + done));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) throw InputError("read", std::strerror(errno));
      if (size == 0) break;
      done += static_cast<std::size_t>(size);
    }
    return done;
  }

  Descriptor descriptor_;
  std::uint64_t size_ = 0;
  InputVersion version_;
};

namespace {

constexpr std::uint64_t block = 512;  // headers and data begin at multiples of it
constexpr std::uint64_t in_blocks(std::uint64_t bytes) {
  return (bytes + block - 1) / block * block;
}

// The fields of a header that are needed beside libarchive: their places are the same in all
// formats.
constexpr std::size_t size_at = 124, size_length = 12, checksum_at = 148, checksum_length = 8,
                      type_at = 156, magic_at = 257;
constexpr std::string_view magic = "ustar";

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == bytes.npos;
}

// The number that a field holds in octal digits; nullopt if it holds anything else.
std::optional<std::uint64_t> octal(std::string_view field) {
  std::uint64_t number = 0;
  bool has_digit = false, has_ended = false;
  for (const char c : field)
    if (c >= '0' && c <= '7' && !has_ended)
      number = 8 * number + static_cast<std::uint64_t>(c - '0'), has_digit = true;
    else if (c == ' ' || c == '\0')
      has_ended = has_digit;
    else
      return std::nullopt;
  return has_digit ? std::optional(number) : std::nullopt;
}

// Does the block hold the checksum of a header, the sum of its bytes?
bool is_header(std::string_view text) {
  if (text.size() < block) return false;
  const auto sum = octal(text.substr(checksum_at, checksum_length));
  std::uint64_t expected = checksum_length * ' ';
  for (std::size_t i = 0; i < block; ++i)
    if (i < checksum_at || i >= checksum_at + checksum_length)
      expected += static_cast<unsigned char>(text[i]);
  return sum == expected;
}

void stop_if_interrupted() {
  if (interrupted()) throw InputError("read", "interrupted");
}

constexpr std::size_t searched_at_once = 1 << 16;

// Where the zeros end that begin at `from`. Moves the file's offset. Throws InputError if the file
// has become shorter.
std::uint64_t end_of_zeros(const ArchiveFile& file, std::uint64_t from) {
  while (from < file.size()) {
    stop_if_interrupted();
    const off_t data = ::lseek(file.descriptor(), static_cast<off_t>(from), SEEK_DATA);
    // What lies before `data` is a hole; if there is no data, all of it is, except the last byte,
    // which is read to see that the file still ends there.
    if (data < 0 && errno == ENXIO) from = std::max(from, file.size() - 1);
    if (data > 0) from = std::max(from, static_cast<std::uint64_t>(data));
    const std::string text = file.text(from, searched_at_once);
    const std::size_t found = text.find_first_not_of('\0');
    if (found != text.npos) return from + found;
    if (text.empty()) throw InputError("read", "the archive has become shorter");
    from += text.size();
  }
  return file.size();
}

// Where the next header is recognised, at any byte from `from` on.
std::optional<std::uint64_t> find_header(const ArchiveFile& file, std::uint64_t from) {
  while (from + block <= file.size()) {
    stop_if_interrupted();
    const std::string text = file.text(from, searched_at_once);
    if (text.size() < block) break;
    std::size_t at = text.find(magic, magic_at);
    for (; at != text.npos && at - magic_at + block <= text.size(); at = text.find(magic, at + 1))
      if (is_header(std::string_view(text).substr(at - magic_at, block)))
        return from + at - magic_at;
    from += text.size() - block + 1;
  }
  return std::nullopt;
}

std::string without_dots_in_front(std::string name) {
  while (name.starts_with("./")) name.erase(0, name.find_first_not_of('/', 1));
  return name;
}

// The method by which a file with this beginning is compressed; null if it is not.
const char* compression(std::string_view beginning) {
  using namespace std::string_view_literals;
  constexpr std::array methods{std::pair("\x1F\x8B"sv, "gzip"),
                               std::pair("BZh"sv, "bzip2"),
                               std::pair("\xFD"
                                         "7zXZ\0"sv,
                                         "xz"),
                               std::pair("\x28\xB5\x2F\xFD"sv, "zstd"),
                               std::pair("\x04\x22\x4D\x18"sv, "lz4"),
                               std::pair("\x1F\x9D"sv, "compress"),
                               std::pair("LZIP"sv, "lzip")};
  for (const auto& [signature, method] : methods)
    if (beginning.starts_with(signature)) return method;
  return nullptr;
}

}  // namespace

// libarchive reads headers; where they are is decided here, because libarchive ends at the first
// block of zeros and does not say what follows it.
struct Archive::Reader {
  explicit Reader(const std::filesystem::path& path) : file(std::make_shared<ArchiveFile>(path)) {
    if (file->size() == 0) throw InputError("read", "the file is empty");
    const std::string first = file->text(0, block);
    const char* const method = is_header(first) ? nullptr : compression(first);
    if (method)
      throw InputError("read", fmt::format("this file is compressed with {}, and compressed "
                                           "archives are not read: decompress it",
                                           method));
    open(0);
  }

  // Begins to read headers at `position`.
  void open(std::uint64_t position) {
    base = at = position;
    handle.reset(::archive_read_new());
    ::archive_read_support_format_tar(handle.get());  // ustar, pax, GNU; without compression
    constexpr std::size_t once = 1 << 14;  // for a header: the data in between is skipped
    ::lseek(file->descriptor(), static_cast<off_t>(position), SEEK_SET);
    is_open = ::archive_read_open_fd(handle.get(), file->descriptor(), once) == ARCHIVE_OK;
  }

  std::uint64_t position() const {
    return base + static_cast<std::uint64_t>(::archive_filter_bytes(handle.get(), 0));
  }

  std::string reason() const {
    const char* const text = ::archive_error_string(handle.get());
    return text ? text : "unknown reason";
  }

  void add_damage(std::string sentence) {
    if (damages++ == 0) damage = std::move(sentence);
  }

  // The rest of the archive from `from` on cannot be read as it is: goes on at the next header
  // that can be recognised. False if there is none.
  bool go_on_after(std::uint64_t from) {
    const std::optional<std::uint64_t> header = find_header(*file, from);
    if (header) open(*header);
    return header.has_value();
  }

  // Passes over the zeros at `at`. False if the archive ends with them.
  bool pass_zeros() {
    constexpr std::uint64_t end_marker = 2;
    const std::uint64_t end = end_of_zeros(*file, at), blocks = (end - at) / block;
    const std::uint64_t next = at + blocks * block;
    const bool is_marker = blocks >= end_marker, is_end = end == file->size();
    if (is_end && !is_marker)
      add_damage(
          "the archive ends without an end marker (two blocks of zeros): files may be "
          "missing");
    if (is_end) return false;
    if (!is_marker)
      add_damage(
          fmt::format("the archive is damaged after byte {}: a block of zeros, and two "
                      "would end it",
                      at));
    if (is_header(file->text(next, block))) {
      open(next);
      return true;
    }
    if (is_marker)
      add_damage(
          fmt::format("the archive ends at byte {}, but is followed by bytes that are "
                      "neither zeros nor another archive",
                      next));
    return go_on_after(next);
  }

  // Are there zeros, or is there nothing, where the next header is expected? Headers that stand for
  // no member (of the volume, or of all members) are passed over then, because libarchive would
  // look for a member after them.
  bool is_at_zeros() {
    std::uint64_t after = at;
    std::string header = file->text(after, block);
    while (header.size() == block && (header[type_at] == 'g' || header[type_at] == 'V') &&
           is_header(header)) {
      const auto size = octal(std::string_view(header).substr(size_at, size_length));
      if (!size || *size > file->size()) return false;
      after += block + in_blocks(*size);
      header = file->text(after, block);
    }
    if (is_zero(header)) at = after;
    return is_zero(header);
  }

  // Is there another header, in `entry`?
  bool read_header() {
    while (true) {
      if (at > file->size()) {
        add_damage("the archive ends early, within the last of its files");
        return false;
      }
      if (is_at_zeros()) {
        if (at <= file->size() && !pass_zeros()) return false;
        continue;
      }
      const int status = is_open ? ::archive_read_next_header(handle.get(), &entry) : ARCHIVE_FATAL;
      if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return true;
      const std::string why = status == ARCHIVE_EOF ? "a header is missing" : reason();
      const std::uint64_t here = at;
      add_damage(here == 0 ? "this is not a tar archive: " + why
                           : fmt::format("the archive is damaged after byte {}: {}", here, why));
      if (!go_on_after(here + 1)) return false;
      if (here == 0) damage = "the archive is damaged at its beginning: " + why;
    }
  }

  // Skips the data of the current entry, which begins at `begin`.
  void skip_data(std::uint64_t begin, std::uint64_t size, bool is_whole) {
    if (is_whole && (begin > file->size() || size > file->size() - begin)) {
      at = file->size() + 1;
      return;
    }
    at = ::archive_read_data_skip(handle.get()) == ARCHIVE_OK ? position() : file->size() + 1;
  }

  [[noreturn]] void fail() const {
    if (damages == 1) throw InputError("read", damage);
    throw InputError("read", fmt::format("{} (the first of {} such places)", damage, damages));
  }

  std::shared_ptr<const ArchiveFile> file;
  std::unique_ptr<::archive, decltype(&::archive_read_free)> handle{nullptr, ::archive_read_free};
  ::archive_entry* entry = nullptr;  // the current one, of `handle`
  bool is_open = false;              // otherwise `handle` has found no archive
  std::uint64_t base = 0;            // where the bytes begin that `handle` reads
  std::uint64_t at = 0;              // where the next header is expected
  std::string damage;                // a sentence on the first one
  std::size_t damages = 0;
};

Archive::Archive(const std::filesystem::path& file) : reader_(std::make_unique<Reader>(file)) {}
Archive::~Archive() = default;
Archive::Archive(Archive&&) noexcept = default;
Archive& Archive::operator=(Archive&&) noexcept = default;

std::vector<unsigned char> Archive::read(const std::filesystem::path& file, std::uint64_t begin,
                                         std::uint64_t size) {
  return ArchiveFile(file).read(begin, size);
}

const InputVersion& Archive::version() const {
  return reader_->file->version();
}

std::optional<Archive::Member> Archive::next() {
  while (reader_->read_header()) {
    ::archive_entry* const entry = reader_->entry;
    const char* const pathname = ::archive_entry_pathname(entry);
    const std::string name = without_dots_in_front(pathname ? pathname : "");
    const auto type = ::archive_entry_filetype(entry);
    const bool is_link = type == AE_IFLNK || ::archive_entry_hardlink(entry) != nullptr;
    // The data follows what has been read, unless it is stored in pieces.
    const bool is_sparse = ::archive_entry_sparse_count(entry) > 0;
    const std::uint64_t begin = reader_->position();
    const auto size = static_cast<std::uint64_t>(::archive_entry_size(entry));
    reader_->skip_data(begin, size, type == AE_IFREG && !is_link && !is_sparse);
    if (name.empty()) continue;
    const auto read = [file = reader_->file, begin, size, is_sparse] {
      if (is_sparse) throw InputError("read", "sparse files in archives are not read");
      return file->read(begin, size);
    };
    return Member{name, is_link, !is_link && type != AE_IFREG, is_sparse, begin, size, read};
  }
  if (reader_->damages > 0) reader_->fail();
  return std::nullopt;
}

const std::vector<std::string_view>& archive_extensions() {
  static const std::vector<std::string_view> extensions{".tar"};
  return extensions;
}

}  // namespace facesat

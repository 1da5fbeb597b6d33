#include "library/io/archive.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/support/errors.hpp"

namespace facesat {

// The archive's file, open for as long as somebody may read from it.
class ArchiveFile {
 public:
  explicit ArchiveFile(const std::filesystem::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0)
      throw InputError("read", errno == ENOENT ? "no such file or folder" : std::strerror(errno));
    if (!S_ISREG(info.st_mode)) throw InputError("read", "this is not a regular file");
    if (info.st_size == 0) throw InputError("read", "the file is empty");
    descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw InputError("read", std::strerror(errno));
    size_ = static_cast<std::uint64_t>(info.st_size);
  }
  ~ArchiveFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  ArchiveFile(const ArchiveFile&) = delete;
  ArchiveFile& operator=(const ArchiveFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint64_t size() const { return size_; }

  std::vector<unsigned char> read(std::uint64_t from, std::uint64_t count) const {
    if (count > Archive::max_member_bytes)
      throw InputError("limit", fmt::format("this file has {} bytes; files in archives may have {}",
                                            count, Archive::max_member_bytes));
    if (from > size_ || count > size_ - from)
      throw InputError("read", "the archive ends before this file does");
    std::vector<unsigned char> bytes(count);
    for (std::size_t done = 0; done < count;) {
      const ssize_t size =
          ::pread(descriptor_, bytes.data() + done, count - done, static_cast<off_t>(from + done));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) throw InputError("read", std::strerror(errno));
      if (size == 0) throw InputError("read", "the archive has become shorter");
      done += static_cast<std::size_t>(size);
    }
    return bytes;
  }

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

namespace {

std::string without_dots_in_front(std::string name) {
  while (name.starts_with("./")) name.erase(0, name.find_first_not_of('/', 1));
  return name;
}

}  // namespace

struct Archive::Reader {
  explicit Reader(const std::filesystem::path& path) : file(std::make_shared<ArchiveFile>(path)) {
    ::archive_read_support_format_tar(handle.get());  // ustar, pax, GNU; without compression
    constexpr std::size_t block = 1 << 14;  // for a header: the data in between is skipped
    if (::archive_read_open_fd(handle.get(), file->descriptor(), block) != ARCHIVE_OK) fail();
  }

  [[noreturn]] void fail() const {
    const char* const text = ::archive_error_string(handle.get());
    const std::string reason = text ? text : "unknown reason";
    if (end == 0) throw InputError("read", "this is not a tar archive: " + reason);
    throw InputError(
        "read",
        fmt::format("the archive is damaged after byte {}, and what follows is not read: {}", end,
                    reason));
  }

  // Is there another header, in `entry`?
  bool read_header() {
    if (end > file->size())
      throw InputError("read", "the archive ends early, within the last of its files");
    const int status = ::archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) return false;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail();
    return true;
  }

  std::shared_ptr<const ArchiveFile> file;
  std::unique_ptr<::archive, decltype(&::archive_read_free)> handle{::archive_read_new(),
                                                                    ::archive_read_free};
  ::archive_entry* entry = nullptr;  // the current one, of `handle`
  std::uint64_t end = 0;             // of its data; 0: no header was read yet
};

Archive::Archive(const std::filesystem::path& file) : reader_(std::make_unique<Reader>(file)) {}
Archive::~Archive() = default;
Archive::Archive(Archive&&) noexcept = default;
Archive& Archive::operator=(Archive&&) noexcept = default;

std::vector<unsigned char> Archive::read(const std::filesystem::path& file, std::uint64_t begin,
                                         std::uint64_t size) {
  return ArchiveFile(file).read(begin, size);
}

std::optional<Archive::Member> Archive::next() {
  while (reader_->read_header()) {
    ::archive_entry* const entry = reader_->entry;
    const char* const name = ::archive_entry_pathname(entry);
    const auto type = ::archive_entry_filetype(entry);
    const bool is_link = type == AE_IFLNK || ::archive_entry_hardlink(entry) != nullptr;
    // The data follows what has been read, unless it is stored in pieces.
    const bool is_sparse = ::archive_entry_sparse_count(entry) > 0;
    const auto begin = static_cast<std::uint64_t>(::archive_filter_bytes(reader_->handle.get(), 0));
    const auto size = static_cast<std::uint64_t>(::archive_entry_size(entry));
    reader_->end = is_link || is_sparse ? begin : begin + size;
    if (!name || (type != AE_IFREG && !is_link)) continue;
    const auto read = [file = reader_->file, begin, size, is_sparse] {
      if (is_sparse) throw InputError("read", "sparse files in archives are not read");
      return file->read(begin, size);
    };
    return Member{without_dots_in_front(name), is_link, is_sparse, begin, size, read};
  }
  return std::nullopt;
}

const std::vector<std::string_view>& archive_extensions() {
  static const std::vector<std::string_view> extensions{".tar"};
  return extensions;
}

}  // namespace facesat

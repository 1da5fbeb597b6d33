#include "results/picture_folder.hpp"

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "media/codec.hpp"
#include "media/stamp.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

// Would the next picture fail for the same reason?
bool concerns_all(int code) {
  return code == ENOSPC || code == EDQUOT || code == EROFS || code == EIO;
}

[[noreturn]] void fail(const fs::path& file, int code) {
  const std::string message = fmt::format("{}: {}", file.string(), std::strerror(code));
  if (concerns_all(code)) throw OutputError(message, code);
  throw InputError("write", message);
}

// As encode_picture() calls the format of a file with this name.
std::string format_of(const fs::path& name) {
  if (has_extension(name, {".jpg", ".jpeg", ".jpe", ".jfif"})) return ".jpg";
  return has_extension(name, {".png"}) ? ".png" : name.extension().string();
}

// The folder of `name`, opened part by part from `root` without following links. Missing folders
// are created.
Descriptor open_parent(const fs::path& root, const fs::path& name) {
  Descriptor folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) fail(root, errno);
  fs::path path = root;
  for (const fs::path& part : name.parent_path()) {
    path /= part;
    if (::mkdirat(folder.get(), part.c_str(), 0777) != 0 && errno != EEXIST) fail(path, errno);
    Descriptor next(
        ::openat(folder.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open() && (errno == ELOOP || errno == ENOTDIR)) {
      struct stat info {};
      if (::fstatat(folder.get(), part.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISLNK(info.st_mode))
        throw InputError("write",
                         fmt::format("{}: this is a link; pictures are not written through links",
                                     path.string()));
      fail(path, ENOTDIR);
    }
    if (!next.is_open()) fail(path, errno);
    folder = std::move(next);
  }
  return folder;
}

// Gives a file of `parent` its name, possibly that of an earlier picture. If another program has
// taken the name in the meantime, its file stays.
void rename_within(int parent, const std::string& temporary, const std::string& leaf,
                   const fs::path& file, bool replaces) {
  const auto rename = [&](unsigned flags) {
    return ::renameat2(parent, temporary.c_str(), parent, leaf.c_str(), flags) == 0;
  };
  // Some network file systems support no flags.
  if (!rename(replaces ? 0 : RENAME_NOREPLACE) && !(errno == EINVAL && rename(0)))
    fail(file, errno);
}

// Writes the file as a whole or not at all, even if the program is killed or the disk is full: it
// is written without a name if the file system supports that, else under a temporary one, and then
// moved to its place.
void write_whole(const Descriptor& parent, const std::string& leaf, const fs::path& file,
                 const std::vector<unsigned char>& bytes, bool replaces) {
  Descriptor out(-1);
  if (::access("/proc/self/fd", F_OK) == 0)  // by which the file gets its name
    out = Descriptor(::openat(parent.get(), ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  const bool is_unnamed = out.is_open();
  const std::string temporary = fmt::format(".facesat-{}-{}", ::getpid(), parent.get());
  if (!is_unnamed)
    out = Descriptor(::openat(parent.get(), temporary.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!out.is_open()) fail(file, errno);
  try {
    write_all(out.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
              file.string());
    const std::string name = fmt::format("/proc/self/fd/{}", out.get());
    // A link cannot replace a file, so a replacement gets the temporary name first.
    const char* const first = replaces ? temporary.c_str() : leaf.c_str();
    if (is_unnamed && ::linkat(AT_FDCWD, name.c_str(), parent.get(), first, AT_SYMLINK_FOLLOW) != 0)
      fail(file, errno);
    if (!is_unnamed || replaces) rename_within(parent.get(), temporary, leaf, file, replaces);
  } catch (...) {
    ::unlinkat(parent.get(), temporary.c_str(), 0);
    throw;
  }
}

}  // namespace

PictureFolder::PictureFolder(fs::path folder) : folder_(std::move(folder)) {
  try {
    make_folder(folder_);
  } catch (const OutputError& error) {
    throw UsageError(error.what());
  }
  std::string probe = (folder_ / ".facesat-XXXXXX").string();
  const Descriptor made(::mkostemp(probe.data(), O_CLOEXEC));
  if (!made.is_open())
    throw UsageError(fmt::format("{}: pictures cannot be written there: {}", folder_.string(),
                                 std::strerror(errno)));
  ::unlink(probe.c_str());
}

bool PictureFolder::remove(const std::string& name, const fs::path& input) const {
  const fs::path file = path(name);
  struct stat info {};
  if (::lstat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const FileIdentity identity{info.st_dev, info.st_ino};
  if (protected_.contains(identity) || file_identity(input) == identity) return false;
  std::error_code error;
  const bool is_behind_a_link =
      fs::canonical(file, error) != fs::canonical(folder_, error) / fs::path(name);
  const bool may_go = keeps_ ? is_stamped_for(file, stamp_of_input(input)) : is_stamped(file);
  return !is_behind_a_link && may_go && ::unlink(file.c_str()) == 0;
}

PictureFolder::Present PictureFolder::find(int parent, const fs::path& name,
                                           const fs::path& input) const {
  const fs::path file = folder_ / name;
  struct stat info {};
  if (::fstatat(parent, name.filename().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return Present::nothing;
  const auto refuse = [&](const char* reason) {
    throw InputError("write", fmt::format("{}: {}", file.string(), reason));
  };
  if (S_ISDIR(info.st_mode)) fail(file, EISDIR);
  if (!S_ISREG(info.st_mode) || !is_stamped(file))
    refuse("a file that facesat did not write is not replaced");
  const FileIdentity identity{info.st_dev, info.st_ino};
  if (protected_.contains(identity)) refuse("this is an input of this run, or holds its results");
  if (file_identity(input) == identity) refuse("this is the input itself");
  return keeps_ && info.st_size > 0 && !is_stamped_for(file, stamp_of_input(input))
             ? Present::of_another_input
             : Present::of_this_input;
}

namespace {

[[noreturn]] void refuse_other_input(const fs::path& file) {
  throw InputError(
      "write",
      fmt::format("{}: this is the picture of another input; it is not replaced with --resume",
                  file.string()));
}

// Throws InputError instead of an OutputError that concerns this file alone.
template <class Write>
void attempt(Write write) {
  try {
    write();
  } catch (const OutputError& error) {
    if (concerns_all(error.code)) throw;
    throw InputError("write", error.what());
  }
}

}  // namespace

void PictureFolder::write(const std::string& name, View<const Bgr> pixels,
                          const fs::path& input) const {
  const fs::path relative = name, file = path(name);
  std::vector<unsigned char> bytes = encode_picture(pixels, format_of(relative));
  stamp(bytes, stamp_of_input(input));
  const Descriptor parent = open_parent(folder_, relative);
  const Present present = find(parent.get(), relative, input);
  if (present == Present::of_another_input) {
    if (are_same_but_for_stamp(read_file(file), bytes)) return;
    refuse_other_input(file);
  }
  attempt([&] {
    write_whole(parent, relative.filename().string(), file, bytes, present != Present::nothing);
  });
}

struct PictureFolder::Draft::Place {
  Descriptor parent;
  std::string hidden;  // name of the file
  Descriptor lock;     // of the file, against other runs
};

PictureFolder::Draft::Draft(const PictureFolder& folder, const std::string& name,
                            const fs::path& input)
    : folder_(folder), name_(name), input_(input) {
  const std::string hidden = fmt::format(".facesat-{:016x}{}", checksum(name_.filename().string()),
                                         name_.extension().string());
  const fs::path file = folder.path(name);
  path_ = fs::absolute(file.parent_path() / hidden);
  Descriptor parent = open_parent(folder.folder_, name_);
  if (folder.find(parent.get(), name_, input) == Present::of_another_input)
    refuse_other_input(file);
  Descriptor lock(
      ::openat(parent.get(), hidden.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!lock.is_open()) fail(path_, errno);
  struct stat info {};
  // Some file systems have no locks.
  const bool is_locked = ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_locked || ::fstat(lock.get(), &info) != 0 || info.st_nlink == 0)
    throw InputError("write",
                     fmt::format("{}: another run of facesat writes this video", file.string()));
  place_ = std::make_unique<Place>(Place{std::move(parent), hidden, std::move(lock)});
}

PictureFolder::Draft::~Draft() {
  if (place_) ::unlinkat(place_->parent.get(), place_->hidden.c_str(), 0);
}

void PictureFolder::Draft::publish() {
  const fs::path file = folder_.folder_ / name_;
  attempt([&] {
    const Descriptor out(::openat(place_->parent.get(), place_->hidden.c_str(),
                                  O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!out.is_open() || ::fstat(out.get(), &info) != 0) fail(file, errno);
    write_all(out.get(),
              video_stamp(name_, static_cast<std::uint64_t>(info.st_size), stamp_of_input(input_)),
              file.string());
  });
  const Present present = folder_.find(place_->parent.get(), name_, input_);
  if (present == Present::of_another_input) refuse_other_input(file);
  rename_within(place_->parent.get(), place_->hidden, name_.filename().string(), file,
                present != Present::nothing);
  place_.reset();
}

}  // namespace facesat

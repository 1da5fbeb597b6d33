#include "library/support/same_file.hpp"

#include <sys/stat.h>

namespace facesat {
namespace {

namespace fs = std::filesystem;

// The path at which a file would be created if it were opened for writing by this name.
fs::path place_of(fs::path file) {
  std::error_code error;
  constexpr int most_links = 40;  // as in the kernel
  for (int links = 0; links < most_links && fs::is_symlink(fs::symlink_status(file, error));
       ++links)
    file = file.parent_path() / fs::read_symlink(file, error);
  const fs::path parent = fs::weakly_canonical(fs::absolute(file, error).parent_path(), error);
  return parent / file.filename();
}

}  // namespace

std::optional<FileIdentity> file_identity(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino};
}

bool same_file(const fs::path& a, const fs::path& b) {
  const auto first = file_identity(a), second = file_identity(b);
  if (first || second) return first == second;
  return place_of(a) == place_of(b);
}

}  // namespace facesat

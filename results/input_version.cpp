#include "results/input_version.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "support/files.hpp"

namespace facesat {
namespace {

InputVersion version_by(const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return {};
  const timespec &modified = info.st_mtim, &changed = info.st_ctim;
  return {checksum(fmt::format("{} {}.{} {}.{}", info.st_size, modified.tv_sec, modified.tv_nsec,
                               changed.tv_sec, changed.tv_nsec)),
          info.st_ino};
}

}  // namespace

InputVersion version_of(const std::filesystem::path& input) {
  struct stat info {};
  return ::stat(input.c_str(), &info) == 0 ? version_by(info) : InputVersion{};
}

InputVersion version_of(int descriptor) {
  struct stat info {};
  return ::fstat(descriptor, &info) == 0 ? version_by(info) : InputVersion{};
}

}  // namespace facesat

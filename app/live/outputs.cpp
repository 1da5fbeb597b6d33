#include "app/live/outputs.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/live/detection/history.hpp"
#include "cascades/cascade_store.hpp"
#include "media/frame_source.hpp"
#include "media/source_name.hpp"
#include "media/stamp.hpp"
#include "media/video_file.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const Outputs::Output& output, const std::string& overwritten) {
  throw UsageError(fmt::format("{} {}: this would overwrite {}; choose another file", output.option,
                               output.file.string(), overwritten));
}

// The picture or video in `folder` that is the same file as `file`, under any name.
std::optional<fs::path> find_in_folder(const fs::path& folder, const fs::path& file) {
  const auto wanted = file_identity(file);
  std::error_code failure;
  if (!wanted || !fs::is_directory(folder, failure)) return std::nullopt;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const fs::path& path = entry->path();
    if (has_media_extension(path) && file_identity(path) == wanted) return path;
  }
  return std::nullopt;
}

void check_cascades(const Outputs::Output& output, const std::vector<std::string>& cascades) {
  for (const std::string& cascade : cascades)
    if (const auto file = cascade_file(cascade); file && same_file(output.file, *file))
      refuse(output, fmt::format("the cascade {}", cascade));
}

// Encodes a single pixel to find out whether the format is known.
void check_format_of_picture(const Outputs::Output& output) {
  Image<Bgr> pixel({1, 1});
  *pixel.row(0) = {};
  if (try_encode(pixel.view(), output.file.extension().string()).empty())
    throw UsageError(fmt::format("{} {}: the name of a picture must end in .png or .jpg",
                                 output.option, output.file.string()));
}

void check_format_of_video(const Outputs::Output& output) {
  if (!VideoFile::knows(output.file))
    throw UsageError(fmt::format("{} {}: the name of a video must end in {}", output.option,
                                 output.file.string(), VideoFile::extensions()));
  std::error_code ignored;
  if (fs::exists(output.file, ignored) && !fs::is_regular_file(output.file, ignored))
    throw UsageError(fmt::format("{} {}: a video can only be written into a regular file",
                                 output.option, output.file.string()));
}

void check_writable(const Outputs::Output& output) {
  try {
    require_writable(output.file);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} {}", output.option, error.what()));
  }
}

}  // namespace

Outputs::Outputs(const Output& screenshot, const Output& times, const Output& record,
                 const std::vector<std::string>& cascades)
    : files_{screenshot, times}, recording_(record) {
  const std::array all{screenshot, times, record};
  for (auto output = all.begin(); output != all.end(); ++output) {
    if (output->file.empty()) continue;
    for (auto other = all.begin(); other != output; ++other)
      if (!other->file.empty() && same_file(output->file, other->file))
        refuse(*output, fmt::format("the file of {}", other->option));
    check_cascades(*output, cascades);
  }
  if (!screenshot.file.empty()) check_format_of_picture(screenshot);
  if (!record.file.empty()) check_format_of_video(record);
  for (const Output& output : all)
    if (!output.file.empty()) check_writable(output);
}

void Outputs::check_source(const std::string& source) const {
  const auto path = source_path(source);
  if (!path) return;
  const std::scoped_lock lock(mutex_);
  for (const Output& output : {files_[0], files_[1], recording_}) {
    if (output.file.empty()) continue;
    if (same_file(output.file, *path)) refuse(output, fmt::format("the source {}", source));
    if (const auto part = find_in_folder(*path, output.file))
      refuse(output, fmt::format("{} in the source {}", part->filename().string(), source));
  }
}

void Outputs::check_screenshot() const {
  const fs::path& file = files_[0].file;
  if (has_contents(file) && !is_stamped(file)) refuse_foreign(file);
}

void Outputs::check_times() const {
  const fs::path& file = files_[1].file;
  if (!has_contents(file)) return;
  const std::vector<unsigned char> bytes = read_file(file);
  if (!is_times_csv({bytes.begin(), bytes.end()})) refuse_foreign(file);
}

void Outputs::check_contents() const {
  check_screenshot();
  check_times();
  if (has_contents(recording_.file))
    throw UsageError(fmt::format("{} {}: this file exists; choose another name, or delete it",
                                 recording_.option, recording_.file.string()));
}

void Outputs::set_recording(const fs::path& file) {
  const std::scoped_lock lock(mutex_);
  recording_ = {"the recording", file};
}

namespace {

// Calls create() with facesat-DATE + end, then with facesat-DATE-2 + end and so on, until it
// returns true. It sets errno otherwise. Returns the name.
template <class Create>
std::string make_dated(const std::string& folder, const std::string& end, Create create) {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y%m%d-%H%M%S", std::localtime(&now));
  for (int number = 1;; ++number) {
    const std::string suffix = number == 1 ? "" : fmt::format("-{}", number);
    std::string name =
        (std::filesystem::path(folder) / fmt::format("facesat-{}{}{}", date, suffix, end)).string();
    if (create(name.c_str())) return name;
    if (errno != EEXIST)
      throw OutputError(
          fmt::format("{}: this cannot be made here: {}", name, std::strerror(errno)));
  }
}

}  // namespace

std::string make_dated_file(const std::string& folder, const std::string& extension) {
  return make_dated(folder, "." + extension, [](const char* name) {
    const int descriptor = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) ::close(descriptor);
    return descriptor >= 0;
  });
}

std::string make_dated_folder(const std::string& folder, const std::string& name) {
  return make_dated(folder, "-" + name, [](const char* made) { return ::mkdir(made, 0777) == 0; });
}

}  // namespace facesat::app

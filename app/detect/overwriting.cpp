#include "app/detect/overwriting.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "media/codec.hpp"
#include "media/frame_source.hpp"
#include "results/path_list.hpp"
#include "results/picture_names.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::app {

namespace fs = std::filesystem;

namespace {

// `written`: what would be written for this input.
void require_untouched(const std::string& input, const fs::path& written, const std::string& option,
                       const char* what) {
  std::error_code ignored;
  if (fs::is_regular_file(input, ignored) && fs::equivalent(input, written, ignored))
    throw UsageError(fmt::format("{}: {} would overwrite the input {}: name another folder", option,
                                 what, input));
}

bool lies_in(const fs::path& folder, const fs::path& other) {
  const fs::path a = fs::canonical(folder), b = fs::canonical(other);
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).second == b.end();
}

}  // namespace

void require_inputs_untouched(const DetectCommand& command, const PictureFolders& folders) {
  for (const std::string& input : command.inputs) {
    const bool is_video = has_extension(input, video_extensions());
    if (folders.annotate)
      require_untouched(input, folders.annotate->path(name_below(input, false)),
                        fmt::format("--annotate {}", command.annotate), "the picture with boxes");
    if (folders.blur)
      require_untouched(
          input,
          folders.blur->path(is_video ? PictureNames::of_video(name_below(input, true))
                                      : name_below(input, false)),
          fmt::format("--blur {}", command.blur),
          is_video ? "the video with blurred faces" : "the picture with blurred faces");
  }
}

void require_folders_apart(const DetectCommand& command) {
  if (command.annotate.empty() || command.blur.empty()) return;
  if (lies_in(command.annotate, command.blur) || lies_in(command.blur, command.annotate))
    throw UsageError(
        fmt::format("--annotate {} and --blur {}: pictures of the same names would overwrite each "
                    "other: name folders of which none is in the other",
                    command.annotate, command.blur));
}

namespace {

// Rejects "> a.jpg" and ">> a.jpg": the file may be in a folder of inputs.
void check_name_of_standard_output() {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/fd/1", error);
  if (has_extension(file, picture_extensions()) || has_extension(file, video_extensions()))
    throw UsageError(fmt::format(
        "standard output is {}: results are text, and not written into a picture or video",
        file.string()));
}

}  // namespace

// A list that is overwritten with results could pass for a results file later; and a list that
// grows while it is read, because results or messages are appended to it, never ends.
void require_lists_untouched(const DetectCommand& command) {
  const bool is_redirected = command.output == "-";
  const auto results = file_identity(is_redirected ? "/dev/stdout" : command.output);
  const auto messages = file_identity("/dev/stderr");
  std::error_code unknown;
  if (!is_redirected && results && results == messages &&
      fs::is_regular_file(command.output, unknown))
    throw UsageError(
        fmt::format("{}: results and messages cannot be written into one file", command.output));
  const auto check = [&](const std::string& file, const char* what, bool takes_messages) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return;
    const auto read = file_identity(file);
    if (read && (read == results || (takes_messages && read == messages)))
      throw UsageError(fmt::format("{}: {} cannot be written into {}", file,
                                   read == results ? "results" : "messages", what));
  };
  for (const std::string& input : command.inputs) {
    const bool is_list = input == "-" || input.starts_with('@');
    const std::string file = input == "-" ? "/dev/stdin" : is_list ? input.substr(1) : input;
    check(file, is_list ? "the list of inputs" : "an input", is_list);
  }
  for (const std::string& cascade : command.cascades)
    if (is_redirected) check(cascade, "a cascade", false);
  if (is_redirected) check_name_of_standard_output();
}

namespace {

// Calls visit(path) for each path of a list that is a file, until visit returns false.
template <class Visit>
void for_listed_paths(const std::string& input, bool null_separated, Visit visit) {
  std::error_code ignored;
  if (!input.starts_with('@') || !fs::is_regular_file(input.substr(1), ignored)) return;
  PathList list(input.substr(1), null_separated);
  while (const std::optional<PathList::Entry> entry = list.next())
    if (entry->failure.empty() && !visit(entry->path)) return;
}

}  // namespace

void protect_inputs(const DetectCommand& command, PictureFolders& folders) {
  if (!folders.any()) return;
  for (const std::string& input : command.inputs) {
    folders.protect(input);
    for_listed_paths(input, command.null_separated, [&](const std::string& path) {
      folders.protect(path);
      return true;
    });
  }
}

bool are_all_missing(const DetectCommand& command) {
  const auto is_missing = [&](const std::string& input) {
    std::error_code ignored;
    if (input == "-" || command.is_live()) return false;
    if (!input.starts_with('@')) return !fs::exists(input, ignored);
    bool has_paths = false, has_one = false;
    for_listed_paths(input, command.null_separated, [&](const std::string& path) {
      has_paths = true;
      has_one = fs::exists(path, ignored);
      return !has_one;
    });
    return has_paths && !has_one;
  };
  return std::all_of(command.inputs.begin(), command.inputs.end(), is_missing);
}

}  // namespace facesat::app

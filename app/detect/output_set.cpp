#include "app/detect/output_set.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "media/frame_source.hpp"
#include "results/path_list.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& folder, const fs::path& other) {
  const fs::path a = fs::canonical(folder), b = fs::canonical(other);
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).second == b.end();
}

// Rejects "> a.jpg" and ">> a.jpg": the file may be in a folder of inputs.
void check_name_of_standard_output() {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/fd/1", error);
  if (has_media_extension(file))
    throw UsageError(fmt::format(
        "standard output is {}: results are text, and not written into a picture or video",
        file.string()));
}

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

OutputSet::OutputSet(const DetectCommand& command)
    : command_(command), pictures_(make_picture_outputs(command)) {
  if (command.resume)
    for (const auto& output : pictures_) output->folder().keep_pictures();
  require_inputs_untouched();
  require_folders_apart();
  require_lists_untouched(command);
}

void OutputSet::require_inputs_untouched() const {
  for (const std::string& input : command_.inputs)
    for (const auto& output : pictures_) {
      const std::string name = output->name_for(input);
      std::error_code ignored;
      if (!name.empty() && fs::is_regular_file(input, ignored) &&
          fs::equivalent(input, output->folder().path(name), ignored))
        throw UsageError(fmt::format("{}: {} would overwrite the input {}: name another folder",
                                     output->option(), output->what(input), input));
    }
}

// Two outputs that name pictures after their inputs have the same names.
void OutputSet::require_folders_apart() const {
  for (auto a = pictures_.begin(); a != pictures_.end(); ++a)
    for (auto b = pictures_.begin(); b != a; ++b) {
      const bool have_same_names =
          !(*a)->name_for("a.png").empty() && !(*b)->name_for("a.png").empty();
      const fs::path one = (*a)->folder().path(""), other = (*b)->folder().path("");
      if (have_same_names && (lies_in(one, other) || lies_in(other, one)))
        throw UsageError(fmt::format(
            "{} and {}: pictures of the same names would overwrite each other: name folders of "
            "which none is in the other",
            (*a)->option(), (*b)->option()));
    }
}

const PictureFolder* OutputSet::videos() const {
  for (const auto& output : pictures_)
    if (output->videos()) return output->videos();
  return nullptr;
}

std::vector<fs::path> OutputSet::folders() const {
  std::vector<fs::path> folders;
  for (const auto& output : pictures_) folders.push_back(output->folder().path(""));
  return folders;
}

void OutputSet::write(Item& item, View<const Bgr> picture) const {
  for (const auto& output : pictures_) output->write(item, picture);
}

void OutputSet::protect(const fs::path& results) {
  const auto protect = [&](const fs::path& file) {
    for (const auto& output : pictures_) output->folder().protect(file);
    return true;
  };
  protect(results);
  if (pictures_.empty()) return;
  for (const std::string& input : command_.inputs) {
    protect(input);
    for_listed_paths(input, command_.null_separated, protect);
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

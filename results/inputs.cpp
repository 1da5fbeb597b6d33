#include "results/inputs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "media/codec.hpp"
#include "media/frame_source.hpp"
#include "media/source_name.hpp"
#include "media/stamp.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

// A picture or video, by its extension.
Input media(const fs::path& file, std::string name) {
  const bool video = has_extension(file, video_extensions());
  Input input;
  input.kind = video ? Input::Kind::video : Input::Kind::picture;
  input.path = file;
  input.name = std::move(name);
  return input;
}

// Null if the argument is not a list.
std::unique_ptr<PathList> open_list(const std::string& argument, bool null_separated) {
  if (argument == "-") return std::make_unique<PathList>(argument, null_separated);
  if (!argument.starts_with('@')) return nullptr;
  const std::string file = argument.substr(1);
  if (file.empty()) throw UsageError("\"@\" needs the name of a list of paths: @FILE");
  std::error_code ignored;
  if (has_media_extension(file) &&
      fs::exists(fs::exists(argument, ignored) ? argument : file, ignored))
    throw UsageError(fmt::format(
        "{}: @ is for a list of paths, and this is a picture or video; a name that begins with @ "
        "is given as ./{}",
        argument, argument));
  return std::make_unique<PathList>(file, null_separated);
}

Input live(const std::string& address) {
  Input input;
  input.kind = Input::Kind::live;
  input.name = without_credentials(address);
  input.path = input.name;
  input.address = address;
  return input;
}

Input failure(const fs::path& path, std::string name, std::string reason) {
  Input input;
  input.kind = Input::Kind::failure;
  input.path = path;
  input.name = std::move(name);
  input.failure = std::move(reason);
  return input;
}

// Is a part of this name hidden?
bool is_hidden(const fs::path& name) {
  return std::any_of(name.begin(), name.end(), [](const fs::path& part) {
    return part != "." && part != ".." && part.string().starts_with('.');
  });
}

// What this entry of a folder is, or leads to; not_found for a dangling link. Throws InputError if
// that cannot be determined.
fs::file_type type_of(const fs::path& entry) {
  std::error_code error;
  const fs::file_status status = fs::status(entry, error);
  if (error == std::errc::too_many_symbolic_link_levels) return fs::file_type::not_found;
  if (error && status.type() != fs::file_type::not_found) throw InputError("read", error.message());
  return status.type();
}

// Is this an entry of a folder that is a folder itself?
bool is_folder(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.is_directory(ignored);
}

bool is_special(fs::file_type type) {
  return type == fs::file_type::fifo || type == fs::file_type::socket ||
         type == fs::file_type::character || type == fs::file_type::block;
}

// The names of folders in archives end with a slash.
std::string without_slash(std::string name) {
  while (name.ends_with('/')) name.pop_back();
  return name;
}

// Archives that have been compressed: they are refused by the name of the method, not as pictures.
bool is_compressed_archive(const std::string& file) {
  static const std::vector<std::string_view> methods{".gz", ".bz2", ".xz", ".zst", ".lz4", ".lz"},
      whole{".tgz", ".tbz", ".tbz2", ".txz", ".tzst"};
  const fs::path path = file;
  return has_extension(path, whole) ||
         (has_extension(path, methods) && has_extension(path.stem(), archive_extensions()));
}

}  // namespace

Inputs::Inputs(InputArguments arguments) : arguments_(std::move(arguments)) {
  for (const fs::path& folder : arguments_.excluded)
    if (const auto id = file_identity(folder)) excluded_.insert(*id);
  for (const std::string& argument : arguments_.inputs) {
    lists_.push_back(open_list(argument, arguments_.null_separated));
    if (!lists_.back() && is_excluded(argument))
      throw UsageError(fmt::format(
          "{}: pictures cannot be written into the folder that they are read from: name another",
          argument));
  }
}

bool Inputs::is_repeatable() const {
  return std::all_of(lists_.begin(), lists_.end(),
                     [](const auto& list) { return !list || list->is_repeatable(); });
}

bool Inputs::is_excluded(const fs::path& folder) const {
  const auto id = excluded_.empty() ? std::nullopt : file_identity(folder);
  return id && excluded_.contains(*id);
}

// Is this a link to a folder that the walk also reaches without the link?
bool Inputs::is_link_within(const fs::path& folder) const {
  std::error_code error;
  if (!fs::is_symlink(folder, error)) return false;
  const fs::path target = fs::canonical(folder, error);
  const fs::path below = error ? fs::path() : target.lexically_relative(root_);
  return !below.empty() && std::none_of(below.begin(), below.end(), [](const fs::path& part) {
    return part != "." && part.string().starts_with('.');  // outside the root, or hidden
  });
}

std::optional<Input> Inputs::next() {
  return upcoming_ ? std::exchange(upcoming_, std::nullopt) : find();
}

bool Inputs::is_empty() {
  if (!upcoming_) upcoming_ = find();
  return !upcoming_ && !was_cut_short_;
}

std::optional<Input> Inputs::find() {
  while (true) {
    std::optional<Input> input;
    if (archive_)
      input = next_of_archive();
    else if (!folders_.empty())
      input = next_of_folder();
    else if (list_)
      input = next_of_list();
    else if (next_argument_ < lists_.size())
      input = next_of_arguments();
    else
      return std::nullopt;
    if (input) return input;
  }
}

std::optional<Input> Inputs::next_of_arguments() {
  const std::size_t i = next_argument_++;
  list_ = std::move(lists_[i]);
  if (list_) return std::nullopt;
  const std::string& argument = arguments_.inputs[i];
  return arguments_.live && is_live_name(argument) ? live(argument) : start(argument);
}

std::optional<Input> Inputs::next_of_list() {
  const std::optional<PathList::Entry> entry = list_->next();
  if (!entry) {
    was_cut_short_ |= list_->was_cut_short();
    list_.reset();
    return std::nullopt;
  }
  if (!entry->failure.empty()) return failure(list_->name(), list_->name(), entry->failure);
  if (entry->picture) {
    Input picture = media("-", "-");
    picture.bytes = entry->picture;
    const std::string_view bytes(reinterpret_cast<const char*>(picture.bytes->data()),
                                 picture.bytes->size());
    picture.version = InputVersion{checksum(bytes), 0};
    return picture;
  }
  if (is_excluded(entry->path))
    return failure(entry->path, entry->path, "pictures of this run are written into this folder");
  return start(entry->path);
}

// Starts with a path given by the user: a folder to walk, or a file, which is read whatever its
// extension.
std::optional<Input> Inputs::start(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    const bool is_compressed = arguments_.archives && is_compressed_archive(path);
    return is_archive(path) || is_compressed ? open(path, path) : media(path, path);
  }
  entered_.clear();
  root_ = fs::canonical(path, ignored);
  return enter(path, "", path);
}

// Begins to walk a folder. Returns a failure if the folder cannot be read to its end.
std::optional<Input> Inputs::enter(const fs::path& folder, const std::string& prefix,
                                   const std::string& name) {
  const auto id = file_identity(folder);
  if ((!folders_.empty() && is_link_within(folder)) || (id && !entered_.insert(*id).second)) {
    ++skipped_.links;
    return std::nullopt;
  }
  const bool excluded =
      (id && excluded_.contains(*id)) || (!folders_.empty() && folders_.back().is_excluded);
  Folder listing{folder, prefix, {}, 0, excluded};
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    listing.entries.push_back({entry->path().filename().string(), is_folder(*entry)});
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  folders_.push_back(std::move(listing));
  if (error) return failure(folder, name, error.message());
  if (on_folder_) on_folder_(folder, {});
  return std::nullopt;
}

bool Inputs::is_archive(const fs::path& file) const {
  return arguments_.archives && has_extension(file, archive_extensions());
}

// Begins to read an archive. Returns a failure if it is none.
std::optional<Input> Inputs::open(const fs::path& archive, const std::string& name) {
  try {
    archive_.emplace(OpenArchive{Archive(archive), archive, name});
  } catch (const InputError& error) {
    return failure(archive, name, error.what());
  }
  return std::nullopt;
}

std::optional<Input> Inputs::next_of_archive() {
  const auto& [archive, path, name] = *archive_;
  std::optional<Archive::Member> member;
  try {
    member = archive_->archive.next();
    if (!member && on_folder_) on_folder_(path, archive.version());
  } catch (const InputError& error) {
    Input broken = failure(path, name, error.what());
    broken.version = archive.version();
    archive_.reset();
    return broken;
  }
  if (!member) {
    archive_.reset();
  } else if (member->is_special) {
    skipped_.special += has_extension(without_slash(member->name), picture_extensions());
  } else if (is_hidden(member->name)) {
    ++skipped_.hidden;
  } else if (!has_extension(member->name, picture_extensions())) {
    skip_file(member->name);
  } else if (member->is_link) {
    ++skipped_.links_in_archives;
  } else {
    Input picture = media(path, name + "/" + member->name);
    picture.kind = Input::Kind::picture;
    picture.version = archive.version();
    picture.member = std::move(member);
    return picture;
  }
  return std::nullopt;
}

void Inputs::skip_file(const fs::path& file) {
  constexpr std::size_t most_extensions = 100;  // counted separately, to bound the memory
  ++skipped_.files;
  const std::string extension = file.extension().string();
  if (skipped_.extensions.size() < most_extensions || skipped_.extensions.contains(extension))
    ++skipped_.extensions[extension];
}

std::optional<Input> Inputs::next_of_folder() {
  Folder& folder = folders_.back();
  if (folder.next == folder.entries.size()) {
    folders_.pop_back();
    return std::nullopt;
  }
  const Entry& entry = folder.entries[folder.next++];
  if (!entry.name.starts_with('.')) return next_entry(folder, entry);
  ++skipped_.hidden;
  return std::nullopt;
}

std::optional<Input> Inputs::next_entry(const Folder& folder, const Entry& entry) {
  const fs::path path = folder.path / entry.name;
  const std::string name = folder.prefix + entry.name;
  const bool is_media = has_media_extension(path);
  const bool holds_media = is_archive(path);
  fs::file_type type = fs::file_type::unknown;
  try {
    type = type_of(path);
  } catch (const InputError& error) {  // the entry may be a folder with pictures, or a picture
    if (arguments_.recursive || is_media || holds_media) return failure(path, name, error.what());
  }
  if (type == fs::file_type::directory || entry.is_folder) {
    if (arguments_.recursive && type == fs::file_type::directory)
      return enter(path, name + "/", name);
    if (arguments_.recursive)
      return failure(path, name, "this was a folder when the run found it, and is none any more");
    ++skipped_.folders;
    return std::nullopt;
  }
  if ((is_media || holds_media) && is_special(type)) {
    ++skipped_.special;
    return std::nullopt;
  }
  if (holds_media) return open(path, name);
  if (is_media && !(folder.is_excluded && is_stamped(path))) return media(path, name);
  if (is_media)
    ++skipped_.own;
  else
    skip_file(path);
  return std::nullopt;
}

}  // namespace facesat

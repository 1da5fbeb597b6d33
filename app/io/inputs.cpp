#include "app/io/inputs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <sys/stat.h>

#include "app/errors.hpp"
#include "app/io/codec.hpp"
#include "app/io/files.hpp"
#include "app/io/video.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

Input media(const fs::path& file, std::string name) {
  const bool video = has_extension(file, video_extensions());
  return {video ? Input::Kind::video : Input::Kind::picture, file, std::move(name), ""};
}

std::unique_ptr<std::istream> open_list(const std::string& argument) {
  if (argument == "-") return std::make_unique<std::istream>(std::cin.rdbuf());
  const std::string file = argument.substr(1);
  std::error_code ignored;
  if (fs::is_directory(file, ignored))
    throw UsageError(fmt::format("{}: a list was expected, this is a folder", file));
  auto list = std::make_unique<std::ifstream>(file);
  if (!*list)
    throw UsageError(fmt::format("{}: the list cannot be read: {}", file, std::strerror(errno)));
  return list;
}

bool is_list(const std::string& argument) {
  return argument == "-" || argument.starts_with('@');
}

}  // namespace

Inputs::Inputs(std::vector<std::string> arguments, bool recursive,
               const std::vector<fs::path>& excluded)
    : arguments_(std::move(arguments)), recursive_(recursive) {
  for (const std::string& argument : arguments_)
    if (argument.starts_with('@')) open_list(argument);  // say now what would fail later
  for (const fs::path& folder : excluded)
    if (const auto id = identity(folder)) excluded_.insert(*id);
}

Inputs::~Inputs() = default;
Inputs::Inputs(Inputs&&) noexcept = default;

std::optional<Inputs::Identity> Inputs::identity(const fs::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return std::nullopt;
  return Identity{info.st_dev, info.st_ino};
}

std::optional<Input> Inputs::next() {
  while (true) {
    std::optional<Input> input;
    if (!folders_.empty())
      input = next_of_folder();
    else if (list_)
      input = next_of_list();
    else if (next_argument_ < arguments_.size())
      input = next_of_arguments();
    else
      return std::nullopt;
    if (input) return input;
  }
}

std::optional<Input> Inputs::next_of_arguments() {
  const std::string& argument = arguments_[next_argument_++];
  if (!is_list(argument)) return start(argument);
  list_ = open_list(argument);
  return std::nullopt;
}

std::optional<Input> Inputs::next_of_list() {
  std::string line;
  if (!std::getline(*list_, line)) {
    list_.reset();
    return std::nullopt;
  }
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) return std::nullopt;
  return start(line);
}

// A path given by the user: a folder to walk, or a file to read whatever its extension.
std::optional<Input> Inputs::start(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return media(path, path);
  entered_.clear();
  return enter(path, "", path);
}

// Begins to walk a folder; the result is a failure if it cannot be read.
std::optional<Input> Inputs::enter(const fs::path& folder, const std::string& prefix,
                                   const std::string& name) {
  const auto id = identity(folder);
  if (id && (excluded_.contains(*id) || !entered_.insert(*id).second)) return std::nullopt;
  Folder listing{folder, prefix, {}, 0};
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    listing.entries.push_back(entry->path().filename().string());
  if (error) return Input{Input::Kind::failure, folder, name, error.message()};
  std::sort(listing.entries.begin(), listing.entries.end());
  folders_.push_back(std::move(listing));
  return std::nullopt;
}

std::optional<Input> Inputs::next_of_folder() {
  Folder& folder = folders_.back();
  if (folder.next == folder.entries.size()) {
    folders_.pop_back();
    return std::nullopt;
  }
  const std::string& entry = folder.entries[folder.next++];
  if (entry.starts_with('.')) return std::nullopt;
  const fs::path path = folder.path / entry;
  const std::string name = folder.prefix + entry;
  std::error_code error;
  if (fs::is_directory(path, error))
    return recursive_ ? enter(path, name + "/", name) : std::nullopt;
  if (!has_extension(path, picture_extensions()) && !has_extension(path, video_extensions()))
    return std::nullopt;
  return media(path, name);
}

}  // namespace facesat::app

// The inputs named on the command line, one after the other: files, folders, lists, standard input.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace facesat::app {

struct Input {
  enum class Kind { picture, video, failure };
  Kind kind = Kind::picture;
  std::filesystem::path path;
  std::string name;     // as results call it: relative to the folder given, or the path as given
  std::string failure;  // of a failure (an unreadable folder): why
};

// Finds inputs lazily: memory is bounded by the largest folder, however long the list. Folders come
// in name order; hidden entries and files with unknown extensions are passed over; a folder reached
// twice (through symbolic links) is entered once.
class Inputs {
 public:
  // arguments: a file, a folder, "@FILE" for a list of paths, "-" for a list on standard input.
  // excluded: folders never to enter (the program's own results). Throws UsageError for a list that
  // cannot be read.
  Inputs(std::vector<std::string> arguments, bool recursive,
         const std::vector<std::filesystem::path>& excluded);
  ~Inputs();
  Inputs(Inputs&&) noexcept;

  std::optional<Input> next();

 private:
  // A folder being walked.
  struct Folder {
    std::filesystem::path path;
    std::string prefix;                // of names: "" for the folder given, "sub/" below it
    std::vector<std::string> entries;  // sorted
    std::size_t next = 0;
  };
  using Identity = std::pair<std::uintmax_t, std::uintmax_t>;  // device and inode

  static std::optional<Identity> identity(const std::filesystem::path& folder);
  std::optional<Input> next_of_arguments();
  std::optional<Input> next_of_folder();
  std::optional<Input> next_of_list();
  std::optional<Input> start(const std::string& path);
  std::optional<Input> enter(const std::filesystem::path& folder, const std::string& prefix,
                             const std::string& name);

  std::vector<std::string> arguments_;
  std::size_t next_argument_ = 0;
  bool recursive_;
  std::set<Identity> excluded_, entered_;
  std::vector<Folder> folders_;
  std::unique_ptr<std::istream> list_;
};

}  // namespace facesat::app

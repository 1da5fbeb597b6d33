// The inputs named on the command line, one after the other: files, folders, lists, standard input.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "library/io/path_list.hpp"

namespace facesat {

struct Input {
  enum class Kind { picture, video, failure };
  Kind kind = Kind::picture;
  std::filesystem::path path;
  std::string name;     // as results call it: relative to the folder given, or the path as given
  std::string failure;  // of a failure (an unreadable folder): why
};

// What the command line says about inputs.
struct InputArguments {
  std::vector<std::string> inputs;  // a file, a folder, "@FILE" for a list of paths, "-" for a list
                                    // on standard input
  bool recursive = false;
  bool null_separated = false;  // lists
  // Where this run writes pictures: below an input, what facesat wrote there is passed over.
  std::vector<std::filesystem::path> excluded;
};

// Finds inputs lazily: memory is bounded by the largest folder, however long the list. Folders come
// in name order; hidden entries and files with unknown extensions are passed over; a folder reached
// twice (through symbolic links) is entered once, under its own name where it lies below the folder
// given.
class Inputs {
 public:
  // Throws UsageError for a list that cannot be read, and for a folder that is excluded.
  explicit Inputs(InputArguments arguments);

  // The next input; a failure for a folder or a list that cannot be read.
  std::optional<Input> next();

  // Is there none any more? Waits for the next one where a list comes from a pipe.
  bool is_empty();

  // Called by next() with every folder that is read.
  void on_folder(std::function<void(const std::filesystem::path&)> call) {
    on_folder_ = std::move(call);
  }

  // What was found in folders so far, and is no input.
  struct PassedOver {
    std::size_t files = 0;                          // with unknown extensions
    std::map<std::string, std::size_t> extensions;  // of these; not more than some
    std::size_t folders = 0;
    std::size_t links = 0;   // to folders that are read under another name
    std::size_t hidden = 0;  // entries whose names begin with a dot
    std::size_t own = 0;     // pictures that facesat wrote, where this run writes some
  };
  const PassedOver& passed_over() const { return passed_over_; }

  // Would another object with these arguments find the same? Not if a list comes from a pipe.
  bool is_repeatable() const;

 private:
  // A folder being walked.
  struct Folder {
    std::filesystem::path path;
    std::string prefix;                // of names: "" for the folder given, "sub/" below it
    std::vector<std::string> entries;  // sorted
    std::size_t next = 0;
    bool is_excluded = false;  // or below one that is
  };
  using Identity = std::pair<std::uintmax_t, std::uintmax_t>;  // device and inode

  std::optional<Input> find();
  static std::optional<Identity> identity(const std::filesystem::path& folder);
  bool is_excluded(const std::filesystem::path& folder) const;
  bool is_link_within(const std::filesystem::path& folder) const;
  std::optional<Input> next_of_arguments();
  std::optional<Input> next_of_folder();
  std::optional<Input> next_of_list();
  std::optional<Input> start(const std::string& path);
  void pass_over_file(const std::filesystem::path& file);
  std::optional<Input> enter(const std::filesystem::path& folder, const std::string& prefix,
                             const std::string& name);

  InputArguments arguments_;
  std::vector<std::unique_ptr<PathList>> lists_;  // one for each argument; null: it is no list
  std::size_t next_argument_ = 0;
  std::set<Identity> excluded_, entered_;
  std::filesystem::path root_;  // the folder given that is being walked, without links
  std::vector<Folder> folders_;
  std::unique_ptr<PathList> list_;  // being read
  std::optional<Input> upcoming_;   // found by is_empty()
  std::function<void(const std::filesystem::path&)> on_folder_;
  PassedOver passed_over_;
};

}  // namespace facesat

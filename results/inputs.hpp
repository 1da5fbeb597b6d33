// Finds the inputs that the command line names, one at a time: files, and the contents of folders,
// archives and lists.
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

#include "results/archive.hpp"
#include "results/path_list.hpp"
#include "support/files.hpp"

namespace facesat {

struct Input {
  enum class Kind { picture, video, live, failure };  // live: a camera or stream
  Kind kind = Kind::picture;
  std::filesystem::path path;
  std::string name;     // as in the results: relative to the given folder, or the path as given;
                        // of a camera or stream without_credentials(), and so is its path
  std::string address;  // of a camera or stream: what opens it
  std::string failure;  // the reason of a failure (such as an unreadable folder)
  std::optional<Archive::Member> member;  // the picture within the archive `path`; else nullopt
  // The picture that standard input gave; else null.
  std::shared_ptr<const std::vector<unsigned char>> bytes;
  // Of what is read, if it is not the file that has the path now: it may have been replaced.
  std::optional<InputVersion> version;
};

// The inputs as given on the command line.
struct InputArguments {
  std::vector<std::string> inputs;  // each a file, a folder, "@FILE" (a list of paths) or "-" (a
                                    // list, or one picture, on standard input)
  bool recursive = false;
  bool null_separated = false;  // entries of lists end with NUL
  bool archives = false;        // archives are read as folders; otherwise they are as other files
  bool live = false;            // inputs may be cameras and streams: see is_live_name()
  // Folders where this run writes pictures: pictures written by facesat in or below them are
  // skipped.
  std::vector<std::filesystem::path> excluded;
};

// Finds inputs lazily: memory is bounded by the largest folder, however long a list is. Folders are
// read in name order, archives in their own; hidden entries, files with unknown extensions, pipes
// and devices are skipped, in archives videos and links, too. A folder that
// can be reached twice (through symbolic links) is entered once, under its own name if it lies
// below the given folder.
class Inputs {
 public:
  // Throws UsageError for a list that cannot be read, and for an input folder that is excluded.
  explicit Inputs(InputArguments arguments);

  // The next input; its kind is `failure` for a folder or list that cannot be read.
  std::optional<Input> next();

  // Are there no more inputs? If a list comes from a pipe, waits for its next entry; if the program
  // is interrupted meanwhile, there may be more.
  bool is_empty();

  // Sets a function that next() calls with every folder and archive that it has read, and with the
  // version of the archive.
  using OnFolder = std::function<void(const std::filesystem::path&, const InputVersion&)>;
  void on_folder(OnFolder call) { on_folder_ = std::move(call); }

  // The numbers of entries of folders that were skipped so far.
  struct Skipped {
    std::size_t files = 0;                          // with unknown extensions
    std::map<std::string, std::size_t> extensions;  // of these files, a limited number
    std::size_t folders = 0;  // below the given one, if it is not walked recursively
    std::size_t links = 0;    // to folders that are read under another name
    std::size_t links_in_archives = 0;
    std::size_t special = 0;  // pipes, devices, and folders in archives, named like media
    std::size_t hidden = 0;   // entries whose names begin with a dot
    std::size_t own = 0;      // pictures written by facesat, in excluded folders
  };
  const Skipped& skipped() const { return skipped_; }

  // Would another object with these arguments find the same inputs? Not if a list comes from a
  // pipe.
  bool is_repeatable() const;

 private:
  // A folder being walked.
  struct Entry {
    std::string name;
    bool is_folder = false;  // when the folder was read
  };
  struct Folder {
    std::filesystem::path path;
    std::string prefix;          // of names: "" for the given folder, "sub/" below it
    std::vector<Entry> entries;  // sorted by name
    std::size_t next = 0;        // index of the next entry
    bool is_excluded = false;    // it or a folder above it is among the excluded ones
  };
  // An archive being read.
  struct OpenArchive {
    Archive archive;
    std::filesystem::path path;
    std::string name;  // in the results
  };

  std::optional<Input> find();  // the next input, without regard to upcoming_
  bool is_excluded(const std::filesystem::path& folder) const;
  bool is_link_within(const std::filesystem::path& folder) const;
  // Each takes one step; nullopt if that gives no input.
  std::optional<Input> next_of_arguments();
  std::optional<Input> next_of_folder();
  std::optional<Input> next_of_archive();
  std::optional<Input> next_of_list();
  std::optional<Input> next_entry(const Folder& folder, const Entry& entry);
  std::optional<Input> start(const std::string& path);
  bool is_archive(const std::filesystem::path& file) const;
  std::optional<Input> open(const std::filesystem::path& archive, const std::string& name);
  void skip_file(const std::filesystem::path& file);
  std::optional<Input> enter(const std::filesystem::path& folder, const std::string& prefix,
                             const std::string& name);

  InputArguments arguments_;
  std::vector<std::unique_ptr<PathList>> lists_;  // one per argument; null: it is not a list
  std::size_t next_argument_ = 0;
  std::set<FileIdentity> excluded_, entered_;  // folders
  std::filesystem::path root_;   // the given folder that is being walked, with links resolved
  std::vector<Folder> folders_;  // the folders being walked, the innermost last
  std::optional<OpenArchive> archive_;  // in the innermost folder, in the list, or given
  std::unique_ptr<PathList> list_;      // being read
  std::optional<Input> upcoming_;       // found by is_empty()
  bool was_cut_short_ = false;          // a list was, so there may be more
  OnFolder on_folder_;
  Skipped skipped_;
};

}  // namespace facesat

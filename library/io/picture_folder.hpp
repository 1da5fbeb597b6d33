// A folder for pictures that are made of inputs.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "core/image.hpp"
#include "library/support/same_file.hpp"

namespace facesat {

class PictureFolder {
 public:
  // Makes the folder. Throws UsageError if it cannot be made or written into.
  explicit PictureFolder(std::filesystem::path folder);

  // Writes a picture; `name` is relative and may have folders, which are made. Replaces pictures of
  // earlier runs, and nothing else: a file that facesat did not write stays, and so does the file
  // `input`, from which this one is made; links are not followed. For any thread. Throws
  // InputError("write") if this picture cannot be written, OutputError if none can (a full disk).
  void write(const std::string& name, View<const Bgr> pixels,
             const std::filesystem::path& input) const;

  // Deletes the picture of that name if write() would replace it. Returns whether it did. For any
  // thread.
  bool remove(const std::string& name, const std::filesystem::path& input) const;

  // From now on the pictures of other inputs stay: names depend on the order of inputs. A picture
  // that would take the place of one cannot be written. Not to be called beside write().
  void keep_pictures() { keeps_ = true; }

  // Pictures do not take the place of this file either: it is an input, or holds the results. Not
  // to be called beside write().
  void protect(const std::filesystem::path& file) {
    if (const auto identity = file_identity(file)) protected_.insert(*identity);
  }

  // Where a picture of this name would go.
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
  std::set<FileIdentity> protected_;
  bool keeps_ = false;
};

}  // namespace facesat

// A folder for the pictures that a run writes: annotated pictures (with boxes around the faces) or
// crops (one picture for each face).
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "core/image.hpp"
#include "library/support/same_file.hpp"

namespace facesat {

class PictureFolder {
 public:
  // Creates the folder. Throws UsageError if it cannot be created or written to.
  explicit PictureFolder(std::filesystem::path folder);

  // Writes a picture; `name` is relative and may contain folders, which are created. Replaces only
  // pictures of earlier runs: a file that facesat did not write stays, and so does `input`, the
  // file from which the picture was made. Links are not followed. May be called from any thread.
  // Throws InputError("write") if this picture cannot be written, OutputError if none can (such as
  // on a full disk).
  void write(const std::string& name, View<const Bgr> pixels,
             const std::filesystem::path& input) const;

  // Deletes the picture of that name if write() would be allowed to replace it. Returns whether the
  // picture was deleted. May be called from any thread.
  bool remove(const std::string& name, const std::filesystem::path& input) const;

  // From now on write() does not replace pictures of other inputs, because names depend on the
  // order of inputs: it throws InputError instead, unless the pictures are equal. Not to be called
  // concurrently with write().
  void keep_pictures() { keeps_ = true; }

  // From now on no picture replaces this file, which is an input or holds the results. Not to be
  // called concurrently with write().
  void protect(const std::filesystem::path& file) {
    if (const auto identity = file_identity(file)) protected_.insert(*identity);
  }

  // The path of a picture with this name.
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
  std::set<FileIdentity> protected_;
  bool keeps_ = false;  // keep_pictures() was called
};

}  // namespace facesat

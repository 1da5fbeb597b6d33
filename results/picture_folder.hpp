// A folder for the pictures that a run writes: annotated pictures (with boxes around the faces),
// crops (one picture for each face), or pictures and videos with blurred faces.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "core/image.hpp"
#include "support/files.hpp"

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

  // A video that gets its name when it is complete; until then, its file has a hidden one, and is
  // deleted by the destructor. One that a killed run left is written anew. Such an object does not
  // outlive its folder.
  class Draft {
   public:
    // `name` and `input` as for write(), with the same rules and errors.
    Draft(const PictureFolder& folder, const std::string& name, const std::filesystem::path& input);
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    const std::filesystem::path& path() const { return path_; }  // of the file; absolute
    // Marks the video, and gives it its name. Throws as write() does.
    void publish();

   private:
    struct Place;

    const PictureFolder& folder_;
    std::filesystem::path name_, input_, path_;
    std::unique_ptr<Place> place_;  // null: published
  };

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
  // What has a name already.
  enum class Present { nothing, of_this_input, of_another_input };
  // `parent`: the descriptor of its folder. Throws InputError if it may not be replaced.
  Present find(int parent, const std::filesystem::path& name,
               const std::filesystem::path& input) const;

  std::filesystem::path folder_;
  std::set<FileIdentity> protected_;
  bool keeps_ = false;  // keep_pictures() was called
};

}  // namespace facesat

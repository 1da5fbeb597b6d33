// What the readers of annotations share. A format is a file annotations_*.cpp with an
// AnnotationReader, and a line in the table of annotations.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/annotations.hpp"
#include "datasets/sentences.hpp"

namespace facesat::training {

// What read_annotations() was given.
struct AnnotationSource {
  std::filesystem::path path;
  bool is_folder = false;
  std::string text;  // the contents of a file

  // The folder that relative names begin at.
  std::filesystem::path folder() const { return is_folder ? path : path.parent_path(); }
};

// Where something stands, for messages: "faces.csv, line 3".
struct Place {
  std::filesystem::path file;
  std::size_t line = 0;  // from 1; 0: the file as a whole

  std::string text() const;
};

// Collects what a reader finds, checks it, and turns names into paths.
class AnnotationCollector {
 public:
  AnnotationCollector(const AnnotationSource& source, const AnnotationOptions& options)
      : folder_(source.folder()), options_(options) {}

  const AnnotationOptions& options() const { return options_; }

  // The index of the picture of this name, which is added if it is new.
  std::size_t picture(const std::string& name);
  // The same with the file, for formats that know more about it than find().
  std::size_t picture(const std::string& name, const std::filesystem::path& file);
  AnnotatedPicture& at(std::size_t picture) { return pictures_[picture]; }

  // Where the picture of this name is. As annotations are often moved without their pictures, these
  // places are tried: the folder of pictures if that is given, otherwise the folder of the
  // annotations, the one above, and in both "images" and "JPEGImages". The first one if the file
  // is in none of them.
  std::filesystem::path find(const std::string& name) const;

  // Adds an object, unless its box has no area or is not of this world: then it is left out.
  void add(std::size_t picture, AnnotatedObject object, const Place& place);
  void leave_out(const Place& place, std::string_view reason);
  void warn(std::string sentence) { warnings_.add(std::move(sentence)); }

  // Throws UsageError if labels were asked for and no object has one of them.
  Annotations take();

 private:
  std::vector<std::filesystem::path> folders() const;

  std::filesystem::path folder_;
  AnnotationOptions options_;
  std::vector<AnnotatedPicture> pictures_;
  std::map<std::string, std::size_t> indices_;       // of pictures, by name
  std::map<std::string, std::size_t> other_labels_;  // those not asked for, with their numbers
  std::size_t wanted_ = 0;                           // objects that have a label asked for
  Sentences warnings_;
};

struct AnnotationReader {
  std::string_view name;  // in messages, with what it looks like
  bool (*recognises)(const AnnotationSource&);
  // Throws UsageError if nothing of it can be used.
  void (*read)(const AnnotationSource&, AnnotationCollector&);
};

// Of a list of pictures: is there a text with labels for any of them?
bool list_has_labels(const AnnotationSource& source);

extern const AnnotationReader info_annotations, csv_annotations, voc_annotations, coco_annotations,
    jsonl_annotations, yolo_folder_annotations, yolo_list_annotations;

// The lines of a text, without their ends ("\n" or "\r\n") and without a byte order mark.
class Lines {
 public:
  explicit Lines(std::string_view text);

  // The next line; nullopt at the end.
  std::optional<std::string_view> next();
  std::size_t number() const { return number_; }  // of the line that next() gave, from 1

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// The line with this byte, from 1.
std::size_t line_of(std::string_view text, std::size_t byte);

// The words between spaces and tabs.
std::vector<std::string_view> words_of(std::string_view line);

std::string_view trimmed(std::string_view text);

// The whole file. Throws UsageError if it cannot be read, is empty or too large.
std::string read_annotation_file(const std::filesystem::path& file);

// The box of four numbers in texts; nullopt if one is none.
std::optional<Box> parse_box(std::string_view x, std::string_view y, std::string_view width,
                             std::string_view height);

// The size of a picture in a file of annotations; empty if it is none.
Size picture_size(std::optional<double> width, std::optional<double> height);

}  // namespace facesat::training

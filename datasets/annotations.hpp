// Annotated pictures: where the objects are, by a human's judgement. For training and evaluation.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "training/negative_pictures.hpp"

namespace facesat::training {

struct AnnotatedObject {
  Box box;
  std::string label;     // empty where the format has none
  bool ignored = false;  // neither expected nor wrong ("difficult", "crowd")
};

struct AnnotatedPicture {
  std::filesystem::path file;
  std::string name;                      // relative to the annotations: in tables and messages
  std::vector<AnnotatedObject> objects;  // empty: a picture without objects
  // The picture's size where the format says it, else empty. If the file has another one, the boxes
  // are those of another version of it, or of the picture before it was turned.
  Size size;
};

struct Annotations {
  std::vector<AnnotatedPicture> pictures;  // in the order of the file; of a folder, by name
  // Sentences about what was left out (boxes without area, unreadable lines), each with file and
  // line: the first few, and how many more there are.
  std::vector<std::string> warnings;
};

struct AnnotationOptions {
  std::vector<std::string> labels;  // objects with another label are ignored; empty: all count
  std::filesystem::path
      pictures;  // the folder that names are relative to; empty: that of the annotations
};

// Reads a file or folder of annotations; the format is recognised from its contents:
//   info.dat of OpenCV ("path n x y w h ...");
//   CSV with columns image, x, y, w, h, as facesat writes it;
//   JSON Lines as facesat writes them;
//   Pascal VOC: an XML file, or a folder of them. Boxes run from pixel xmin to pixel xmax, counted
//   from 1;
//   COCO: a JSON file. Crowds are ignored objects;
//   YOLO: a folder of texts, beside the pictures or in "labels" beside "images", or a list of
//   pictures. Labels have the names of classes.txt or data.yaml, else they are numbers. Pictures
//   are decoded to learn their sizes.
// Boxes may reach beyond their pictures. Throws UsageError for what cannot be read or is in no such
// format, with file, line and what was expected.
Annotations read_annotations(const std::filesystem::path& source,
                             const AnnotationOptions& options = {});

// Is this a file or folder in one of these formats? Not a list of pictures without labels. Throws
// UsageError if it cannot be read.
bool has_annotations(const std::filesystem::path& source);

}  // namespace facesat::training

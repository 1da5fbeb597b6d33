// A record, which is the result for one picture or frame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/grouping.hpp"
#include "core/image.hpp"

namespace facesat {

class Format;
const Format& jsonl_format();  // see format.hpp

struct Failure {
  std::string kind;  // "read", "decode", "memory", "limit", "write", "argument", "internal"
  std::string message;
};

// The kind of failure if an annotated picture or a crop could not be written; the record has the
// faces nevertheless.
constexpr const char* kind_of_unwritten_picture = "write";

// The result for one picture, or for one frame of a video.
struct Record {
  std::string image;
  std::optional<int> frame;  // of a video, from 0
  double time = 0;           // of the frame, in seconds from the start of the video
  Size size;
  int orientation = 0;  // the EXIF orientation by which the picture was turned; 0: not to be told
  std::vector<Face> faces;
  std::optional<Failure> failure;
  std::string warning;             // a sentence, if the picture was incomplete or damaged
  std::vector<std::string> crops;  // their files in the folder of crops, as far as written
};

// Turns records into text.
struct Layout {
  const Format* format = &jsonl_format();
  std::vector<std::string> cascades;  // names; faces name their cascade if there are several
  bool csv_safe = false;  // put an apostrophe before texts that a spreadsheet would run as formulas
  // CSV: a row for each picture without faces, too, and a column of the faces' crops.
  bool csv_all = false;

  bool names_cascades() const { return cascades.size() > 1; }
  std::string header() const;                       // what the output begins with
  std::string to_text(const Record& record) const;  // with line ends
};

}  // namespace facesat

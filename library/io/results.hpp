// One record of the results, and its text in both formats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/grouping.hpp"
#include "core/image.hpp"

namespace facesat {

enum class Format { jsonl, csv };

struct FoundFace {
  Face face;
  std::size_t cascade = 0;  // index of the cascade that found it
};

struct Failure {
  std::string kind;  // "read", "decode", "memory", "limit", "write", "argument"
  std::string message;
};

// A picture with boxes, or a crop, could not be written; its record tells the faces all the same.
constexpr const char* kind_of_unwritten_picture = "write";

// What became of one picture, or of one frame of a video.
struct Record {
  std::string image;
  std::optional<int> frame;  // of a video, from 0
  double time = 0;           // of the frame, in seconds
  Size size;
  std::vector<FoundFace> faces;
  std::optional<Failure> failure;
  std::string warning;  // a sentence, if the picture was not whole
};

// How records become text. In CSV a face has one line, and a frame of a video is called NAME#FRAME;
// failures and pictures without faces have none.
struct Layout {
  Format format = Format::jsonl;
  std::vector<std::string> cascades;  // names; each face tells its own if there are several
  bool csv_safe = false;              // texts that a spreadsheet would run get a ' in front

  bool names_cascades() const { return cascades.size() > 1; }
  std::string header() const;                       // the first line; empty for JSON Lines
  std::string to_text(const Record& record) const;  // the record's lines, each ended
};

}  // namespace facesat

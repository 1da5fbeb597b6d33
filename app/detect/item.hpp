// One picture or frame on its way from the reader to the results.
#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "media/codec.hpp"
#include "media/input_file.hpp"
#include "results/journal.hpp"
#include "results/results.hpp"

namespace facesat::app {

struct Item {
  Record record;
  Journal::InputEntry place;   // the input in the journal
  std::filesystem::path path;  // of the input; within an archive: ARCHIVE/MEMBER
  // Reads the bytes of a picture that is no file, but in an archive or on standard input; else
  // empty.
  std::function<std::vector<unsigned char>()> read_bytes;
  std::string picture_name;           // the base for output pictures; empty if there are none
  std::optional<Picture> frame;       // only for videos, whose frames are decoded by the reader
  std::optional<Image<Bgr>> shown;    // the picture with boxes, if the user wants to see it
  std::string video_name;             // of a frame: the base of its video's name; else empty
  double frame_seconds = 0;           // from one frame of the video to the next
  std::optional<Image<Bgr>> blurred;  // the frame with blurred faces, for a video of such frames
  bool last_of_input = true;
  bool earlier = false;  // its record was written by an earlier run
  // The number of inputs that earlier runs have completed, if this item stands for them.
  std::size_t earlier_inputs = 0;
  bool stopped = false;      // the run was interrupted: there is no record
  std::exception_ptr error;  // an error that ends the run

  // The file with the picture. Throws InputError.
  InputFile open() const {
    if (read_bytes) return InputFile(read_bytes());
    return InputFile(path);
  }
  // For when only the record is needed: pixels and open files.
  void release_input() {
    frame.reset();
    read_bytes = nullptr;
  }
};

}  // namespace facesat::app

// One picture or frame on its way from the reader to the results.
#pragma once

#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "library/io/journal.hpp"
#include "library/io/results.hpp"
#include "library/media/codec.hpp"

namespace facesat::app {

struct Item {
  Record record;
  Journal::Place place;             // the input in the journal
  std::filesystem::path path;       // of the input
  std::string picture_name;         // the base for output pictures; empty if there are none
  std::optional<Picture> frame;     // only for videos, whose frames are decoded by the reader
  std::optional<Image<Bgr>> shown;  // the picture with boxes, if the user wants to see it
  bool last_of_input = true;
  bool earlier = false;      // its record was written by an earlier run
  bool stopped = false;      // the run was interrupted: there is no record
  std::exception_ptr error;  // an error that ends the run
};

}  // namespace facesat::app

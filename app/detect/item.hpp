// One picture or frame on its way through the pipeline.
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
  Journal::Place place;
  std::filesystem::path path;
  std::string picture_name;      // of what is written about it; empty if nothing is
  std::optional<Picture> frame;  // of a video: decoded already
  bool last_of_input = true;
  bool earlier = false;      // an earlier run has its record
  bool stopped = false;      // the run was interrupted: there is no record
  std::exception_ptr error;  // what ends the run
};

}  // namespace facesat::app

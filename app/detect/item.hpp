// One picture or frame on its way through the pipeline.
#pragma once

#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "app/io/codec.hpp"
#include "app/io/results.hpp"

namespace facesat::app {

struct Item {
  Record record;
  std::filesystem::path path;
  std::string picture_name;      // of what is written about it; empty if nothing is
  std::optional<Picture> frame;  // of a film: decoded already
  bool last_of_input = true;
  bool earlier = false;             // an earlier run has its record
  std::exception_ptr output_error;  // its pictures could not be written
};

}  // namespace facesat::app

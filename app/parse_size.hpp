// "N" or "WxH" on the command line.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "core/image.hpp"

namespace facesat::app {

// Throws UsageError unless `text` is a size in pixels, each side 0 or more.
Size parse_size(const std::string& text);

// An option that takes one. What is wrong with it is told with the option's name.
CLI::Option* add_size(CLI::App& command, const char* name, Size& size, const char* help);

}  // namespace facesat::app

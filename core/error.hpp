// The errors of the core. Each message is one sentence for the person at the keyboard: what is
// wrong, where, and what was expected. Nothing below app/main.cpp prints or exits.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace facesat {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file that is not a cascade file, or is damaged; the message names file, line and element.
struct CascadeError : Error {
  using Error::Error;
};

// A parameter outside its range.
struct ArgumentError : Error {
  using Error::Error;
};

// A device that is not there, or has failed.
struct DeviceError : Error {
  using Error::Error;
};

// Work that its caller has ended (see core/stop.hpp); there is nothing wrong with it.
struct Stopped : Error {
  Stopped() : Error("the detection was stopped before it was done") {}
};

// Work that does not fit into memory; the message gives the number of bytes it would need.
struct MemoryError : Error {
  MemoryError(const std::string& what_for, std::uint64_t bytes_needed);
  std::uint64_t bytes;  // needed
};

}  // namespace facesat

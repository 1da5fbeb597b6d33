// What can go wrong in the program, beyond the errors of core.
#pragma once

#include <string>

#include "core/error.hpp"

namespace facesat::app {

// Wrong usage or configuration: nothing was processed. Exit status 2.
struct UsageError : Error {
  using Error::Error;
};

// One input that cannot be processed; it becomes an error record and the run goes on.
struct InputError : Error {
  InputError(std::string kind_, const std::string& message)
      : Error(message), kind(std::move(kind_)) {}
  std::string kind;  // "read", "decode", "memory"
};

// Results that cannot be written: the run ends.
struct OutputError : Error {
  using Error::Error;
};

// Nobody reads the results any more (`| head`): the run ends without a word.
struct ClosedPipe : OutputError {
  using OutputError::OutputError;
};

}  // namespace facesat::app

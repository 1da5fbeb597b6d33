// Errors of the program, in addition to those of core.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "facesat/types.hpp"

namespace facesat {

// Wrong usage or configuration: nothing was processed. Exit status 2.
struct UsageError : Error {
  using Error::Error;
};

// An input that cannot be processed; it becomes an error record, and the run continues.
struct InputError : Error {
  InputError(std::string kind_, const std::string& message)
      : Error(message), kind(std::move(kind_)) {}
  std::string kind;  // "read", "decode", "memory", "limit", "write"
};

// Results cannot be written: the run ends. Exit status 3.
struct OutputError : Error {
  // `code_`: errno, or 0 if there is none.
  explicit OutputError(const std::string& message, int code_ = 0) : Error(message), code(code_) {}
  int code;
};

// Nobody reads the results any more (`| head`): the run ends without a message.
struct ClosedPipe : OutputError {
  using OutputError::OutputError;
};

// A sentence on the exception that was thrown, whatever its type. `error` must not be null.
inline std::string reason_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return "there is not enough memory";
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an error of unknown kind";
  }
}

}  // namespace facesat

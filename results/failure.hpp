// What an exception means for the record of the picture that it was thrown for.
#pragma once

#include <exception>
#include <optional>

#include "results/results.hpp"

namespace facesat {

// The failure for the record; nullopt for errors that end the run (OutputError, DeviceError).
// Stopped means that the picture took longer than `max_seconds`. `error` must not be null.
std::optional<Failure> failure_of(const std::exception_ptr& error, double max_seconds);

}  // namespace facesat

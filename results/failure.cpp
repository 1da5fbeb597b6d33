#include "results/failure.hpp"

#include <new>

#include <fmt/format.h>

#include "support/errors.hpp"

namespace facesat {

std::optional<Failure> failure_of(const std::exception_ptr& error, double max_seconds) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& input) {
    return Failure{input.kind, input.what()};
  } catch (const MemoryError& memory) {
    return Failure{"memory", memory.what()};
  } catch (const std::bad_alloc&) {
    return Failure{"memory", "there is not enough memory for this picture"};
  } catch (const ArgumentError& argument) {
    return Failure{"argument", argument.what()};
  } catch (const Stopped&) {
    return Failure{"limit", fmt::format("it would take longer than {:g} seconds; --max-seconds "
                                        "raises the limit",
                                        max_seconds)};
  } catch (const OutputError&) {
    return std::nullopt;
  } catch (const DeviceError&) {
    return std::nullopt;
  } catch (...) {
    return Failure{"internal", reason_of(error)};
  }
}

}  // namespace facesat

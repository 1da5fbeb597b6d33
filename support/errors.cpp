#include "support/errors.hpp"

#include <new>

namespace facesat {

std::string reason_of(const std::exception_ptr& error) {
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

// What a text or an exception says.
#pragma once

#include <string>

#include <gtest/gtest.h>

namespace facesat::test {

// Whether `part` is in the text. Either way, a failed expectation prints the text.
inline ::testing::AssertionResult has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  return ::testing::AssertionResult(found) << (found ? "\"" : "no \"") << part << "\" in: " << text;
}

// The message of the error that `work` ends with. Empty if it does not.
template <class Error, class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace facesat::test

// The base of tests of the live window's parts: a temporary folder, and paths in it.
#pragma once

#include <string>

#include "tests/app/program.hpp"

namespace facesat::app {

class LiveTest : public test::ProgramTest {
 protected:
  std::string path(const std::string& name) const { return (folder / name).string(); }
};

}  // namespace facesat::app

// A folder with pictures and a video in it, for tests of the window's parts.
#pragma once

#include <string>

#include "tests/app/program.hpp"

namespace facesat::app {

class LiveTest : public test::ProgramTest {
 protected:
  std::string path(const std::string& name) const { return (folder / name).string(); }
};

}  // namespace facesat::app

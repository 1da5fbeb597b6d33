// A folder "in" with sixty pictures: some without a face, some broken.
#pragma once

#include <string>

#include "tests/kit/program.hpp"

namespace facesat::test {

class SixtyPictures : public ProgramTest {
 protected:
  SixtyPictures() {
    for (int i = 0; i < pictures; ++i)
      if (i % 10 == 9)
        write_text(folder / name(i), "broken");
      else if (i % 10 == 4)
        write_pgm(folder / name(i), draw_faces({80, 80}, {}));  // no face: no line in CSV
      else
        add_face(name(i), i);
  }

  static constexpr int pictures = 60;
  static std::string name(int i) { return "in/" + std::to_string(1000 + i) + ".pgm"; }

  // The results of a run that nothing interrupts.
  std::string undisturbed(const std::string& format) const {
    return detect({"--format", format, "in"}).out;
  }

  // Continues a run whose results are in the file r.
  Finished resume(const std::string& format) const {
    return run({"detect", "-q", "--resume", "--format", format, "-o", "r", "in"});
  }
};

}  // namespace facesat::test

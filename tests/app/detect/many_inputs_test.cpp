// Long lists: a run begins before it knows all of its inputs, and keeps little about each. The test
// of a million inputs is tests/scale/many_inputs.py.
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

class ManyInputs : public ProgramTest {
 protected:
  ManyInputs() {
    write_pgm(folder / "picture.pgm", draw_faces({64, 48}, {}));
    std::ofstream list(folder / "list.txt");
    for (int i = 0; i < count; ++i) {
      const std::string name = "in/" + std::to_string(100000 + i) + ".pgm";
      if (i == 0) fs::create_directory(folder / "in");
      fs::create_hard_link(folder / "picture.pgm", folder / name);
      list << name << "\n";
    }
    list << "missing.pgm\n";  // so that the journal stays
  }

  // The largest number of bytes in memory during a run.
  std::size_t peak_of(const std::vector<std::string>& inputs) const {
    std::vector<std::string> arguments{"detect", "-q", "--min-size", "9000", "-o", "r"};
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    const Running running = start(arguments);
    rusage usage{};
    int status = 0;
    EXPECT_EQ(::wait4(running.process(), &status, 0, &usage), running.process());
    EXPECT_EQ(WEXITSTATUS(status), 1);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  }

  static constexpr int count = 20000;
};

TEST_F(ManyInputs, NeedLittleMemoryEach) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "skipped: the address sanitizer keeps freed memory";
#endif
  const std::size_t of_one = peak_of({"picture.pgm", "missing.pgm"});
  fs::remove(folder / "r");
  constexpr std::size_t each = 1500;  // bytes
  EXPECT_LT(peak_of({"@list.txt"}), of_one + each * count);
  EXPECT_EQ(parse_records(read_text(folder / "r")).size(), count + 1u);
  EXPECT_LT(peak_of({"--resume", "@list.txt"}), of_one + each * count);
  EXPECT_EQ(parse_records(read_text(folder / "r")).size(), count + 1u);
}

// Nothing is read ahead but what is needed to keep the processors busy.
TEST_F(ManyInputs, TheFirstRecordComesBeforeTheListEnds) {
  ASSERT_EQ(::mkfifo((folder / "list").c_str(), 0600), 0);
  const Running running = start({"detect", "-q", "-o", "r", "@list"});
  const int list = ::open((folder / "list").c_str(), O_WRONLY);
  ASSERT_EQ(::write(list, "picture.pgm\n", 12), 12);
  while (read_text(folder / "r").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::close(list);
  EXPECT_EQ(running.wait().status, 0);
}

}  // namespace
}  // namespace facesat::test

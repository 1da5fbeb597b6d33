// Outputs that somebody else deletes, changes or shares while facesat writes to them.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

// A run that has written the record of one picture and is waiting for the next line of its list.
class Waiting : public ProgramTest {
 protected:
  Waiting() {
    add_face("a.pgm");
    ::mkfifo((folder / "list").c_str(), 0600);
  }
  Running start_waiting() {
    Running running = start({"detect", "-q", "-j", "1", "-o", "r", "@list"});
    list = ::open((folder / "list").c_str(), O_WRONLY);
    feed("a.pgm\n");
    while (read_text(folder / "r").empty()) ::usleep(1000);
    return running;
  }
  void feed(const std::string& text) const {
    ASSERT_EQ(::write(list, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  int list = -1;  // the end of the pipe that feed() writes to
};

TEST_F(Waiting, AnOutputThatIsDeletedEndsTheRun) {
  const Running running = start_waiting();
  fs::remove(folder / "r");
  feed("a.pgm\n");
  ::close(list);
  const Finished done = running.wait();
  EXPECT_EQ(done.status, 3);
  EXPECT_NE(done.err.find("r was deleted"), std::string::npos) << done.err;
}

TEST_F(Waiting, AnOutputThatIsDeletedAtTheEndIsNoticed) {
  const Running running = start_waiting();
  fs::remove(folder / "r");
  ::close(list);
  EXPECT_EQ(running.wait().status, 3);
}

TEST_F(Waiting, AnOutputThatOthersChangeEndsTheRun) {
  const Running running = start_waiting();
  fs::resize_file(folder / "r", 0);
  feed("a.pgm\n");
  ::close(list);
  const Finished done = running.wait();
  EXPECT_EQ(done.status, 3);
  EXPECT_NE(done.err.find("r was changed by another program"), std::string::npos) << done.err;
}

TEST_F(Waiting, TwoRunsDoNotShareAnOutput) {
  const Running running = start_waiting();
  const Finished second = detect({"-o", "r", "a.pgm"});
  EXPECT_EQ(second.status, 2);
  EXPECT_NE(second.err.find("another run of facesat writes into this file"), std::string::npos);
  EXPECT_EQ(detect({"--resume", "-o", "r", "a.pgm"}).status, 2);
  feed("a.pgm\n");
  ::close(list);
  EXPECT_EQ(running.wait().status, 0);
  EXPECT_EQ(parse_records(read_text(folder / "r")).size(), 2u);
}

using Descriptors = ProgramTest;

TEST_F(Descriptors, MessagesDoNotLandInResultsWhenStandardErrorIsClosed) {
  add_face("in/a.pgm");
  for (int i = 0; i < 20; ++i) write_text(folder / ("in/" + std::to_string(i) + ".jpg"), "broken");
  const Finished expected = run({"detect", "-o", "expected", "in"});
  const Finished done = run({"detect", "-o", "r", "in"}, "", [] { ::close(2); });
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(read_text(folder / "r"), read_text(folder / "expected"));
  EXPECT_EQ(parse_records(read_text(folder / "r")).size(), 21u);
  const Finished all =
      run({"detect", "-o", "r", "in"}, "", [] { ::close(0), ::close(1), ::close(2); });
  EXPECT_EQ(all.status, 1);
  EXPECT_EQ(read_text(folder / "r"), read_text(folder / "expected"));
}

TEST_F(Descriptors, ClosedStandardStreamsAreReported) {
  add_face("a.pgm");
  const Finished no_output = run({"detect", "-q", "a.pgm"}, "", [] { ::close(1); });
  EXPECT_EQ(no_output.status, 2);
  EXPECT_NE(no_output.err.find("standard output is closed"), std::string::npos) << no_output.err;
  const Finished no_input = run({"detect", "-q", "-"}, "", [] { ::close(0); });
  EXPECT_EQ(no_input.status, 2);
  EXPECT_NE(no_input.err.find("standard input: the list cannot be read"), std::string::npos)
      << no_input.err;
  EXPECT_EQ(run({"info"}, "", [] { ::close(1); }).status, 3);
}

}  // namespace
}  // namespace facesat::test

// Runs the real program, as a user would, in a temporary folder, and reads what it writes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/kit/drawn_face.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::test {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Arguments = std::vector<std::string>;
using Names = std::vector<std::string>;

struct Finished {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out, err;

  std::vector<Json> records() const;  // standard output as JSON Lines
  Names images() const;               // the image of each record
};

// Whether the run ended with this status and a message that contains `said`.
::testing::AssertionResult ended(const Finished& done, int status, const std::string& said);

std::vector<Json> parse_records(const std::string& text);
std::vector<std::string> sorted_lines(const std::string& text);
std::string read_text(const fs::path& file);
// Contents that our own reader refuses, without OpenCV, which takes a long time to load.
inline constexpr char broken_pgm[] = "P5 broken";

void write_text(const fs::path& file, const std::string& text);  // makes its folder, too

// The one list followed by the other.
Arguments joined(Arguments first, const Arguments& second);

// A run that has been started and may still be running.
class Running {
 public:
  Running(int process, fs::path out, fs::path err)
      : process_(process), out_(std::move(out)), err_(std::move(err)) {}
  void signal(int number) const;
  Finished wait() const;
  int process() const { return process_; }

 private:
  int process_;
  fs::path out_, err_;
};

// Each is called in a new process, before the program.
using Setup = std::function<void()>;
void preload(const char* library);  // loads this library of the tests before all others
Setup with_limit(int resource, std::uint64_t limit);  // as setrlimit() does
Setup appending(int descriptor, const char* file);    // writes to the end of a file
Setup in_folder(const fs::path& folder);

// A temporary folder, the working directory of the programs started in it. Relative names are those
// of files in this folder.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;

  using Setup = test::Setup;
  // input: the contents of standard input.
  Running start(const Arguments& arguments, const std::string& input = "",
                const Setup& setup = {}) const;
  Finished run(const Arguments& arguments, const std::string& input = "",
               const Setup& setup = {}) const {
    return start(arguments, input, setup).wait();
  }
  // Runs `facesat detect -q ...`.
  Finished detect(Arguments arguments, const std::string& input = "") const;
  // The records of such a run. Expects that it ends with this status.
  std::vector<Json> records_of(const Arguments& arguments, int status = 0) const;

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string read_text(const fs::path& name) const { return test::read_text(folder / name); }
  void write_text(const fs::path& name, const std::string& text) const {
    test::write_text(folder / name, text);
  }
  void write_pgm(const fs::path& name, const Image<std::uint8_t>& picture) const {
    test::write_pgm(folder / name, picture);
  }
  std::vector<Json> read_records(const fs::path& name) const {
    return parse_records(read_text(name));
  }
  // Waits until the file is there and not empty.
  void wait_for(const std::string& name) const;
  // Expects that a run with --resume and these arguments completes the results in r, which are torn
  // at many places, and their journal to what they are now. step: bytes between two places; 0: as
  // is right for long results, where the first record is torn more often.
  void expect_completed_wherever_torn(const Arguments& arguments, std::size_t step = 0) const;
  bool exists(const std::string& name) const { return fs::exists(folder / name); }
  void remove(const Names& files_and_folders) const;
  Names files_below(const std::string& folder) const;  // sorted, relative
  std::string contents() const;                        // the names and bytes of all files

  // A picture with one face at a place and of a size that depend on `variant`.
  void add_face(const std::string& name, int variant = 0) const;
  // One of OpenCV's Haar cascades under another name.
  void add_cascade(const std::string& name, const std::string& cascade) const;

  fs::path folder;

 private:
  mutable int runs_ = 0;
};

// A folder "in" with sixty pictures: some without a face, some broken.
class SixtyPictures : public ProgramTest {
 protected:
  SixtyPictures();

  static constexpr int pictures = 60;
  static std::string name(int i) { return "in/" + std::to_string(1000 + i) + ".pgm"; }

  // The results of a run that nothing interrupts.
  std::string undisturbed(const std::string& format) const {
    return detect({"--format", format, "in"}).out;
  }
  // Continues a run whose results are in the file r.
  Finished resume(const std::string& format) const {
    return detect({"--resume", "--format", format, "-o", "r", "in"});
  }
};

// Tests that are run once for each format of results.
template <class Fixture>
class EachFormat : public Fixture, public ::testing::WithParamInterface<std::string> {
 protected:
  const std::string format = this->GetParam();
};

}  // namespace facesat::test

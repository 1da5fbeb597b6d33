// Runs the real program, as a user would, in a temporary folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/kit/drawn_face.hpp"

namespace facesat::test {

struct Finished {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out, err;

  // Standard output as JSON Lines.
  std::vector<nlohmann::ordered_json> records() const;
};

std::vector<nlohmann::ordered_json> parse_records(const std::string& text);
std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

// A run that has been started and may still be running.
class Running {
 public:
  Running(int process, std::filesystem::path out, std::filesystem::path err)
      : process_(process), out_(std::move(out)), err_(std::move(err)) {}
  void signal(int number) const;
  Finished wait() const;
  int process() const { return process_; }

 private:
  int process_;
  std::filesystem::path out_, err_;
};

// A temporary folder, the working directory of the programs started in it.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;

  using Setup = std::function<void()>;  // called in the new process, before the program
  // input: the contents of standard input.
  Running start(const std::vector<std::string>& arguments, const std::string& input = "",
                const Setup& setup = {}) const;
  Finished run(const std::vector<std::string>& arguments, const std::string& input = "",
               const Setup& setup = {}) const {
    return start(arguments, input, setup).wait();
  }
  // Runs `facesat detect -q ...`.
  Finished detect(std::vector<std::string> arguments, const std::string& input = "") const;

  // A picture with one face at a place and of a size that depend on `variant`.
  void add_face(const std::string& name, int variant = 0) const;
  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::vector<std::string> files_below(const std::string& folder) const;  // sorted, relative

  std::filesystem::path folder;

 private:
  mutable int runs_ = 0;
};

}  // namespace facesat::test

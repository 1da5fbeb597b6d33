#include "tests/kit/program.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace facesat::test {

namespace fs = std::filesystem;

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::vector<nlohmann::ordered_json> parse_records(const std::string& text) {
  std::vector<nlohmann::ordered_json> records;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    records.push_back(nlohmann::ordered_json::parse(line));
  return records;
}

std::vector<nlohmann::ordered_json> Finished::records() const {
  return parse_records(out);
}

void Running::signal(int number) const {
  ::kill(process_, number);
}

Finished Running::wait() const {
  int status = 0;
  ::waitpid(process_, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(out_),
          read_text(err_)};
}

ProgramTest::ProgramTest() {
  std::string name = (fs::temp_directory_path() / "facesat-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  folder = fs::path(name) / "work";
  fs::create_directory(folder);
}

ProgramTest::~ProgramTest() {
  fs::remove_all(folder.parent_path());
}

Running ProgramTest::start(const std::vector<std::string>& arguments, const std::string& input,
                           const Setup& setup) const {
  const std::string number = std::to_string(runs_++);
  const fs::path base = folder.parent_path();
  const fs::path in = base / ("in" + number), out = base / ("out" + number),
                 err = base / ("err" + number);
  write_text(in, input);
  std::vector<char*> argv{const_cast<char*>(FACESAT_PROGRAM)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int process = ::fork();
  if (process == 0) {
    ::dup2(::open(in.c_str(), O_RDONLY), 0);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    if (::chdir(folder.c_str()) != 0) ::_exit(126);
    if (setup) setup();
    ::execv(FACESAT_PROGRAM, argv.data());
    ::_exit(127);
  }
  return {process, out, err};
}

Finished ProgramTest::detect(std::vector<std::string> arguments, const std::string& input) const {
  arguments.insert(arguments.begin(), {"detect", "-q"});
  return run(arguments, input);
}

void ProgramTest::add_face(const std::string& name, int variant) const {
  const int radius = 20 + variant % 5 * 3;
  write_pgm(folder / name, draw_faces({120, 100}, {{50 + variant % 7, 50, radius}}));
}

std::vector<std::string> ProgramTest::files_below(const std::string& below) const {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder / below))
    if (entry.is_regular_file())
      files.push_back(fs::relative(entry.path(), folder / below).string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace facesat::test

#include "tests/kit/program.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/eventually.hpp"

namespace facesat::test {

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::vector<Json> parse_records(const std::string& text) {
  std::vector<Json> records;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) records.push_back(Json::parse(line));
  return records;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

Arguments joined(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

::testing::AssertionResult ended(const Finished& done, int status, const std::string& said) {
  if (done.status == status) return has(done.err, said);
  return ::testing::AssertionFailure()
         << "status " << done.status << ", not " << status << ": " << done.out << done.err;
}

std::vector<Json> Finished::records() const {
  return parse_records(out);
}

Names Finished::images() const {
  Names names;
  for (const Json& record : records()) names.push_back(record["image"]);
  return names;
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

void preload(const char* library) {
  ::setenv("LD_PRELOAD", library, 1);
  ::setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0", 1);
}

Setup with_limit(int resource, std::uint64_t limit) {
  return [=] {
    const rlimit both{limit, limit};
    ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
  };
}

Setup appending(int descriptor, const char* file) {
  return [=] { ::dup2(::open(file, O_WRONLY | O_APPEND), descriptor); };
}

Setup in_folder(const fs::path& folder) {
  return [=] {
    if (::chdir(folder.c_str()) != 0) ::_exit(99);
  };
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

Running ProgramTest::start(const Arguments& arguments, const std::string& input,
                           const Setup& setup) const {
  const std::string number = std::to_string(runs_++);
  const fs::path base = folder.parent_path();
  const fs::path in = base / ("in" + number), out = base / ("out" + number),
                 err = base / ("err" + number);
  test::write_text(in, input);
  std::vector<char*> argv{const_cast<char*>(FACESAT_PROGRAM)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  // vfork() copies no page tables, of which a program with the address sanitizer has many. A setup
  // may change variables, which must then be copies.
  const int process = setup ? ::fork() : ::vfork();
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

Finished ProgramTest::detect(Arguments arguments, const std::string& input) const {
  arguments.insert(arguments.begin(), {"detect", "-q"});
  return run(arguments, input);
}

std::vector<Json> ProgramTest::records_of(const Arguments& arguments, int status) const {
  const Finished done = detect(arguments);
  EXPECT_EQ(done.status, status) << done.err;
  return done.records();
}

void ProgramTest::add_face(const std::string& name, int variant) const {
  const int radius = 20 + variant % 5 * 3;
  write_pgm(name, draw_faces({120, 100}, {{50 + variant % 7, 50, radius}}));
}

void ProgramTest::add_cascade(const std::string& name, const std::string& cascade) const {
  write_text(name, read_text(fs::path(FACESAT_CASCADE_DIR) / "haarcascades" /
                             ("haarcascade_" + cascade + ".xml")));
}

void ProgramTest::wait_for(const std::string& name) const {
  EXPECT_TRUE(eventually([&] { return !read_text(name).empty(); })) << name << " is empty";
}

void ProgramTest::expect_completed_wherever_torn(const Arguments& arguments,
                                                 std::size_t step) const {
  const std::string expected = read_text("r"), journal = read_text("r.resume");
  for (std::size_t keep = 0; keep < expected.size(); keep += step ? step : keep < 100 ? 13 : 997) {
    write_text("r", expected.substr(0, keep));
    write_text("r.resume", journal);
    detect(joined({"--resume", "-o", "r"}, arguments));
    ASSERT_EQ(read_text("r"), expected) << "torn after " << keep << " bytes";
    ASSERT_EQ(read_text("r.resume"), journal) << "torn after " << keep << " bytes";
  }
}

void ProgramTest::remove(const Names& files_and_folders) const {
  for (const std::string& name : files_and_folders) fs::remove_all(folder / name);
}

Names ProgramTest::files_below(const std::string& below) const {
  Names files;
  for (const auto& entry : fs::recursive_directory_iterator(folder / below))
    if (entry.is_regular_file())
      files.push_back(fs::relative(entry.path(), folder / below).string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string ProgramTest::contents() const {
  std::string all;
  for (const std::string& file : files_below(".")) all += file + "\n" + read_text(file);
  return all;
}

SixtyPictures::SixtyPictures() {
  for (int i = 0; i < pictures; ++i)
    if (i % 10 == 9)
      write_text(name(i), broken_pgm);
    else if (i % 10 == 4)
      write_pgm(name(i), draw_faces({80, 80}, {}));  // no face: no line in CSV
    else
      add_face(name(i), i);
}

}  // namespace facesat::test

// Which files are cascades, and what they find: for OpenCV's own in all formats, and for files that
// are changed in many ways.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <opencv2/core/utils/logger.hpp>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/cascades.hpp"
#include "tests/oracle/opencv.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

const DetectOptions every_window{.scale_factor = 1.2, .min_neighbors = 0};

// A folder of this process's own, which is removed at the end.
struct Folder {
  fs::path path = fs::path(::testing::TempDir()) / fmt::format("facesat-cascades-{}", getpid());
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
};

// ---- OpenCV's files, rewritten ------------------------------------------------------------------

void copy_value(const cv::FileNode& from, const std::string& name, cv::FileStorage& to) {
  if (from.isMap() || from.isSeq()) {
    to.startWriteStruct(name, from.isMap() ? cv::FileNode::MAP : cv::FileNode::SEQ);
    for (const auto& part : from) copy_value(part, part.isNamed() ? part.name() : "", to);
    to.endWriteStruct();
  } else if (from.isInt()) {
    to.write(name, static_cast<int>(from));
  } else if (from.isReal()) {
    to.write(name, static_cast<double>(from));
  } else {
    to.write(name, static_cast<std::string>(from));
  }
}

class RewrittenCascade : public ::testing::TestWithParam<const char*> {};

TEST_P(RewrittenCascade, FindsTheSame) {
  const Folder folder;
  const NamedPicture picture = generated_pictures()[14];  // drawn faces
  std::size_t files = 0, windows = 0;
  for (const fs::path& file : opencv_cascade_files()) {
    SCOPED_TRACE(file.string());
    const fs::path copy = folder.path / ("cascade" + std::string(GetParam()));
    {
      const cv::FileStorage from(file.string(), cv::FileStorage::READ);
      cv::FileStorage to(copy.string(), cv::FileStorage::WRITE);
      copy_value(from.getFirstTopLevelNode(), "model", to);
    }
    cv::CascadeClassifier theirs;
    ASSERT_TRUE(theirs.load(copy.string()));
    const auto ours = std::make_shared<Cascade>(load_cascade(copy));
    EXPECT_EQ(ours->name, "cascade");
    EXPECT_EQ(ours->warnings, std::vector<std::string>());
    const auto found = detect_opencv(theirs, picture.gray, every_window);
    FrameDetector detector(ours, every_window, make_cpu_backend());
    EXPECT_EQ(boxes(detector.detect(view_of(picture.gray))), found);
    windows += found.size();
    ++files;
  }
  EXPECT_GE(files, 22u);
  EXPECT_GT(windows, 100u);
}

INSTANTIATE_TEST_SUITE_P(OpenCv, RewrittenCascade,
                         ::testing::Values(".xml", ".yml", ".yaml", ".json", ".xml.gz", ".yml.gz",
                                           ".json.gz"),
                         [](const auto& tested) {
                           std::string name = tested.param + 1;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

// ---- changed files ------------------------------------------------------------------------------

const cv::Mat& noise() {
  static const cv::Mat picture = [] {
    cv::Mat made(34, 45, CV_8UC1);
    cv::RNG(5).fill(made, cv::RNG::UNIFORM, 0, 256);
    return made;
  }();
  return picture;
}

// What a detector does with a file. `windows` is empty if it refuses the file; `why` is our
// message.
struct Outcome {
  std::optional<std::vector<Rect>> windows;
  bool dies = false;
  std::string why;
};

// A detector's answer, followed by its windows. `windows` < 0: it refuses the file.
struct Answer {
  std::size_t file;
  std::int64_t windows;
};

std::optional<std::vector<Rect>> windows_in(const fs::path& file) {
  try {
    cv::CascadeClassifier cascade;
    if (!cascade.load(file.string())) return std::nullopt;
    return detect_opencv(cascade, noise(), every_window);
  } catch (...) {  // cv::Exception, and what the standard library throws
    return std::nullopt;
  }
}

// Writes answers for the files from `first` on, until OpenCV does not survive one of them, or does
// not come back.
[[noreturn]] void answer(const fs::path& file, const std::vector<std::string>& texts,
                         std::size_t first, FILE* to) {
  cv::setNumThreads(1);
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  cv::redirectError([](int, const char*, const char*, const char*, int, void*) { return 0; });
  for (std::size_t i = first; i < texts.size(); ++i) {
    const itimerval patience{{}, {0, 300'000}};
    setitimer(ITIMER_VIRTUAL, &patience, nullptr);  // of this process's time
    std::ofstream(file, std::ios::binary) << texts[i];
    const auto windows = windows_in(file);
    const Answer answer{i, windows ? static_cast<std::int64_t>(windows->size()) : -1};
    fwrite(&answer, sizeof answer, 1, to);
    if (windows) fwrite(windows->data(), sizeof(Rect), windows->size(), to);
    fflush(to);
  }
  _exit(0);
}

// What OpenCV does with each file, in processes of their own.
std::vector<Outcome> outcomes_opencv(const fs::path& file, const std::vector<std::string>& texts) {
  std::vector<Outcome> outcomes;
  while (outcomes.size() < texts.size()) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    const pid_t child = fork();
    if (child == 0) answer(file, texts, outcomes.size(), fdopen(ends[1], "w"));
    close(ends[1]);
    FILE* const from = fdopen(ends[0], "r");
    for (Answer answer; fread(&answer, sizeof answer, 1, from) == 1;) {
      EXPECT_EQ(answer.file, outcomes.size());
      Outcome& outcome = outcomes.emplace_back();
      if (answer.windows < 0) continue;
      outcome.windows.emplace(static_cast<std::size_t>(answer.windows));
      EXPECT_EQ(fread(outcome.windows->data(), sizeof(Rect), outcome.windows->size(), from),
                outcome.windows->size());
    }
    fclose(from);
    waitpid(child, nullptr, 0);
    if (outcomes.size() < texts.size()) outcomes.push_back({.dies = true});
  }
  return outcomes;
}

Outcome our_outcome(const fs::path& file) {
  try {
    const auto cascade = std::make_shared<Cascade>(load_cascade(file));
    FrameDetector detector(cascade, every_window, make_cpu_backend());
    return {boxes(detector.detect(view_of(noise())))};
  } catch (const CascadeError& error) {
    return {{}, false, error.what()};
  }
}

// The exceptions from the rule in the head of core/cascade_parser.cpp: a name, and the messages.
struct Exception {
  const char *name, *messages;
};
constexpr Exception exceptions[] = {
    {"unsafe: a feature outside the window", "reaches outside the window"},
    {"unsafe: more than three rectangles", "at most 3 rectangles"},
    {"unsafe: nodes and leaves that do not fit",
     "numbers for each node|nodes in a tree|leaves for"},
    {"unsafe: a walk that may not end", "leads (back )?to"},
    {"unsafe: a feature that does not exist", "a whole number from 0 to \\d+, found"},
    {"unsafe: LBP without 256 codes", "<maxCatCount> of 256"},
    {"no number: a word or several values", "expected (a|one) number, found|expected a sequence"},
    {"no number: not finite, or beyond 32 bits", "is not a finite|whole number of 32 bits"},
    {"limit: the window", "is too (small|large)"},
    {"limit: no features", "at least one feature"},
    {"form: the end of YAML", "the file ends before its last value"},
};

// Compares the detectors on the files that are added.
class Comparison {
 public:
  explicit Comparison(const char* extension) : extension_(extension) {}

  void add(const std::string& text) { texts_.push_back(text); }

  void compare() {
    const std::vector<Outcome> all =
        outcomes_opencv(folder_.path / ("theirs" + extension_), texts_);
    for (std::size_t i = 0; i < all.size(); ++i)
      compare(texts_[i], all[i], our_outcome(folder_.write("ours" + extension_, texts_[i])));
    report();
  }

 private:
  void compare(const std::string& text, const Outcome& theirs, const Outcome& ours) {
    if (!theirs.windows && ours.windows) {
      ADD_FAILURE() << "only OpenCV refuses this (or does not survive it):\n" << text;
    } else if (theirs.windows && ours.windows) {
      EXPECT_EQ(*ours.windows, *theirs.windows) << text;
      ++both_;
      with_windows_ += !theirs.windows->empty();
    } else if (theirs.windows || theirs.dies) {
      for (const Exception& e : exceptions)
        if (std::regex_search(ours.why, std::regex(e.messages))) {
          ++(theirs.dies ? deaths_ : refused_)[e.name];
          return;
        }
      ADD_FAILURE() << ours.why << (theirs.dies ? "\nOpenCV dies of" : "\nOpenCV loads")
                    << " this:\n"
                    << text;
    } else {
      ++neither_;
    }
  }

  // Prints what happened, and expects that enough of everything did.
  void report() const {
    fmt::print("{} files: {} loaded by both ({} find windows), {} by neither\n", texts_.size(),
               both_, with_windows_, neither_);
    for (const auto& [name, count] : refused_)
      fmt::print("{:6} by OpenCV alone: {}\n", count, name);
    for (const auto& [name, count] : deaths_)
      fmt::print("{:6} of which OpenCV dies: {}\n", count, name);
    EXPECT_GT(with_windows_, texts_.size() / 20);
    EXPECT_GT(neither_, texts_.size() / 20);
  }

  Folder folder_;
  std::string extension_;
  std::vector<std::string> texts_;
  std::size_t both_ = 0, with_windows_ = 0, neither_ = 0;
  std::map<std::string, std::size_t> refused_, deaths_;
};

// The same cascade in another format.
std::string converted(const std::string& xml, const std::string& extension) {
  if (extension == ".xml") return xml;
  const cv::FileStorage from(xml, cv::FileStorage::READ | cv::FileStorage::MEMORY);
  cv::FileStorage to(extension, cv::FileStorage::WRITE | cv::FileStorage::MEMORY);
  const cv::FileNode root = from.getFirstTopLevelNode();
  copy_value(root, root.name(), to);
  return to.releaseAndGetString();
}

// All places of a pattern, as offset and length.
std::vector<std::pair<std::size_t, std::size_t>> places(const std::string& text,
                                                        const char* pattern) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  const std::regex regex(pattern);
  for (auto i = std::sregex_iterator(text.begin(), text.end(), regex); i != std::sregex_iterator();
       ++i)
    all.emplace_back(i->position(), i->length());
  return all;
}

struct Source {
  const char* name;
  std::string (*xml)();
};
constexpr Source sources[] = {
    {"Stumps", stump_cascade}, {"Trees", tree_cascade}, {"Lbp", lbp_cascade}, {"Old", old_cascade}};

class ChangedCascade : public ::testing::TestWithParam<std::tuple<Source, const char*>> {
 protected:
  std::string text = converted(std::get<0>(GetParam()).xml(), std::get<1>(GetParam()));
  Comparison comparison{std::get<1>(GetParam())};
};

TEST_P(ChangedCascade, InItsNumbers) {
  constexpr const char* others[] = {
      "",      "0",          "1",          "-1",         "2",
      "3",     "5",          "-5",         "13",         "400",
      "0.4",   "0.5",        "1.5",        "2.5",        "+1.",
      "+1",    "1e0",        ".5",         "0x2",        "010",
      "09",    "2147483648", "4294967295", "4294967297", "-99999999999999999999",
      "1e9",   "1e39",       "1e400",      "1e-400",     ".Inf",
      "-.Inf", ".nan",       "nan",        "x",          "1x",
      "1E0",   "1 0",        "1, 0",       "-",          "+.5",
      "'1'",   "\"1\"",      "1.0.0"};
  for (const auto& [at, length] : places(text, "[-+]?[0-9][-+0-9.e]*(?![-\\w])"))
    for (const char* other : others) comparison.add(std::string(text).replace(at, length, other));
  comparison.compare();
}

TEST_P(ChangedCascade, InItsNames) {
  for (const auto& [at, length] : places(text, "[A-Za-z_]+"))
    for (const char* other : {"", "_", "size", "features", "maxCatCount", "x"})
      comparison.add(std::string(text).replace(at, length, other));
  comparison.compare();
}

// Without each line, and with each line twice.
TEST_P(ChangedCascade, InItsLines) {
  for (const auto& [at, length] : places(text, "[^\n]*\n")) {
    comparison.add(std::string(text).erase(at, length));
    comparison.add(std::string(text).insert(at, text.substr(at, length)));
    comparison.add(std::string(text).insert(at, "\n"));
    comparison.add(std::string(text).insert(at, " "));
  }
  comparison.compare();
}

TEST_P(ChangedCascade, InEveryFourthCharacter) {
  for (std::size_t i = 0; i < text.size(); i += 4) {
    comparison.add(std::string(text).erase(i, 1));
    comparison.add(std::string(text).replace(i, 1, 1, "<>/ \t\n\"':,-[]{}#&0"[i / 4 % 18]));
  }
  comparison.compare();
}

INSTANTIATE_TEST_SUITE_P(OpenCv, ChangedCascade,
                         ::testing::Combine(::testing::ValuesIn(sources),
                                            ::testing::Values(".xml", ".yml", ".json")),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + "_" +
                                  (std::get<1>(tested.param) + 1);
                         });

// Without each element of XML, and with each one twice.
class ChangedXml : public ::testing::TestWithParam<Source> {};

TEST_P(ChangedXml, InItsElements) {
  const std::string text = GetParam().xml();
  Comparison comparison(".xml");
  std::vector<std::size_t> open;
  for (const auto& [at, length] : places(text, "</?\\w+[^>?]*>")) {
    if (text[at + 1] != '/') {
      open.push_back(at);
      continue;
    }
    const std::size_t begin = open.back(), size = at + length - begin;
    open.pop_back();
    const std::string element = text.substr(begin, size);
    comparison.add(std::string(text).erase(begin, size));
    comparison.add(std::string(text).insert(begin, element));
    const std::size_t name_end = element.find('>') + 1;
    comparison.add(std::string(text).erase(begin + name_end, at - begin - name_end));
  }
  comparison.compare();
}

INSTANTIATE_TEST_SUITE_P(OpenCv, ChangedXml, ::testing::ValuesIn(sources),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace facesat::test

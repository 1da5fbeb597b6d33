// Cascades from files: which files are read, and how damaged ones are refused: with a message that
// names the file, the line and what was expected there.
#include "core/cascade.hpp"

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/cascades.hpp"
#include "tests/kit/messages.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

// A temporary folder for each test, deleted at its end.
class LoadCascade : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "facesat-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  // Expects an error whose message begins with the file's name and contains `words`.
  void expect_refused(const fs::path& file, const std::string& words) const {
    const std::string message = message_of<CascadeError>([&] { load_cascade(file); });
    EXPECT_TRUE(message.starts_with(file.string())) << message;
    EXPECT_TRUE(has(message, words));
  }

  fs::path folder_;
};

TEST_F(LoadCascade, IsNamedAfterItsFile) {
  const Cascade cascade = load_cascade(write("small.face.xml", stump_cascade()));
  EXPECT_EQ(cascade.name, "small.face");
  EXPECT_EQ(cascade.window, (Size{12, 10}));
  EXPECT_EQ(load_cascade(write("small", stump_cascade())).name, "small");
  EXPECT_EQ(load_cascade(write("eyes.v2.xml.gz", stump_cascade())).name, "eyes.v2");
}

TEST_F(LoadCascade, RefusesWhatIsNotAFile) {
  expect_refused(folder_, "this is a folder, not a file; expected a file with");
  expect_refused(folder_ / "none.xml", "No such file or directory");
  expect_refused(write("a.xml", "x") / "b.xml", "Not a directory");
}

// Opening a pipe would wait for its writer, and reading /dev/zero would never end.
TEST_F(LoadCascade, RefusesPipesAndDevicesAtOnce) {
  const fs::path pipe = folder_ / "pipe.xml", link = folder_ / "link.xml";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(pipe, "this is a pipe, not a file");
  fs::create_symlink(pipe, link);
  expect_refused(link, "this is a pipe, not a file");
  expect_refused("/dev/zero", "this is a device, not a file");
}

// A pipe may replace the file after load_cascade() has examined the name and before it opens the
// file. It then refuses the pipe; otherwise it reads the file.
TEST_F(LoadCascade, NeverWaitsForAPipeThatReplacesAFile) {
  const fs::path file = write("a.xml", stump_cascade()), pipe = folder_ / "pipe";
  const fs::path copy = write("copy.xml", stump_cascade());
  std::atomic<bool> done = false;
  const std::jthread replacing([&] {
    while (!done) {
      mkfifo(pipe.c_str(), 0600);
      fs::rename(pipe, file);
      fs::copy_file(copy, folder_ / "next.xml", fs::copy_options::overwrite_existing);
      fs::rename(folder_ / "next.xml", file);
    }
  });
  int refused = 0, read = 0;
  for (int i = 0; i < 300; ++i) {
    try {
      read += load_cascade(file).stages.size() == 2;
    } catch (const CascadeError& error) {
      EXPECT_TRUE(has(error.what(), "this is a pipe"));
      ++refused;
    }
  }
  done = true;
  EXPECT_EQ(refused + read, 300);
}

TEST_F(LoadCascade, RefusesDamagedFilesByNameAndLine) {
  expect_refused(write("empty.xml", ""), ", line 1: this file is empty");
  expect_refused(write("text.xml", "<?xml?>\n\n<a>"), ", line 3: expected <opencv_storage>");
}

TEST_F(LoadCascade, RefusesFilesOfMoreThan16MiB) {
  constexpr std::size_t limit = 16 << 20;
  std::string text = stump_cascade();
  text.resize(limit, ' ');
  EXPECT_EQ(load_cascade(write("limit.xml", text)).stages.size(), 2u);
  expect_refused(write("above.xml", text + " "), "larger than 16 MiB");
  EXPECT_THROW(parse_cascade(text + " ", "text"), CascadeError);
}

TEST_F(LoadCascade, RefusesFilesThatMayNotBeRead) {
  const fs::path file = write("secret.xml", stump_cascade());
  fs::permissions(file, fs::perms::none);
  if (geteuid() == 0) GTEST_SKIP() << "skipped: root may read everything";
  expect_refused(file, "Permission denied");
}

TEST(CascadeModel, KnowsWhetherItHasTiltedFeaturesAndTrees) {
  Cascade cascade = half_cascade({8, 8}, 0, 1, 0);
  EXPECT_TRUE(cascade.is_stumps());
  EXPECT_FALSE(cascade.has_tilted());
  EXPECT_EQ(cascade.feature_count(), 1u);
  cascade.trees.push_back({1, 2, 2});
  cascade.haar.push_back({.parts = {}, .tilted = true});
  EXPECT_FALSE(cascade.is_stumps());
  EXPECT_TRUE(cascade.has_tilted());
  EXPECT_EQ(cascade.feature_count(), 2u);
}

struct Damage {
  std::string name;
  std::string xml;
  std::string line;   // part of the line that the message names
  std::string words;  // part of the message
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

using Damages = std::vector<Damage>;

// One change of a valid file; the message names the line of the change.
struct Change {
  const char *name, *from, *to, *words;
};

template <std::size_t n>
Damages changes(const std::string& form, const std::string& valid, const Change (&list)[n]) {
  Damages damages;
  for (const Change& c : list)
    damages.push_back({form + c.name, replaced(valid, c.from, c.to), c.to, c.words});
  return damages;
}

// The text without the part from `first` up to, not including, `last`.
std::string without(const std::string& text, const std::string& first, const std::string& last) {
  const std::size_t begin = text.find(first), end = text.find(last, begin);
  return replaced(text, text.substr(begin, end - begin), "");
}

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

// ---- no cascade at all --------------------------------------------------------------------------

Damages other_files() {
  const char *unknown = "expected a text that begins with \"<?xml\"", *page = "this is a web page";
  const char* unfinished = "the file ends before its last";
  const std::string valid = stump_cascade(), head = "<?xml version=\"1.0\"?>\n";
  const std::string nested = repeated("<a>", 1 << 20);
  return {
      {"Empty", "", "", "this file is empty"},
      {"WhiteSpace", " \n \n", "", unknown},
      {"Text", "a face", "", unknown},
      {"Jpeg", std::string("\xFF\xD8\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xFF\xDB", 22), "",
       unknown},
      {"NoDeclaration", replaced(valid, head, ""), "<opencv_storage>", unknown},
      {"WhiteSpaceBeforeTheDeclaration", "\n" + valid, "", unknown},
      {"Zero", replaced(valid, "0.25", std::string("0\0", 2)), "internalNodes",
       "it has bytes of value 0"},
      {"Html", "\n\n<!DOCTYPE html>\n<html><body/></html>", "", page},
      {"HtmlWithoutDoctype", "<!-- saved -->\n<HTML lang=\"en\">", "", page},
      {"XHtml", head + "<!DOCTYPE html>\n<html xmlns=\"\"></html>", "<?xml", page},
      {"NotFound", "404: Not Found", "", "a web server that did not find the file"},
      {"LfsPointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0", "",
       "a pointer of Git LFS"},
      {"Doctype", replaced(valid, "<opencv_storage>", "<!DOCTYPE a><opencv_storage>"), "DOCTYPE",
       "expected a name"},
      {"Cdata", replaced(valid, "0 -1 0 0.25", "<![CDATA[0 -1 0 0.25]]>"), "CDATA",
       "expected a name"},
      {"EmptyTag", replaced(valid, "<tilted>0</tilted>", "<tilted/>"), "<tilted/>", "empty tags"},
      {"CutInATag", valid.substr(0, valid.find("features>") + 4), "<feat", "expected a name"},
      {"CutInANumber", valid.substr(0, valid.find("0.0625") + 3), "0.0", unfinished},
      {"CutBeforeTheEnd", valid.substr(0, valid.find("</opencv_storage>")), "", unfinished},
      {"WrongEndTag", replaced(valid, "</stages>", "</stage>"), "</stage>",
       "expected the end of <stages>"},
      {"SomethingAfterTheEnd", valid + "more", "more", "expected a tag"},
      {"NestedMillionfold", head + nested, "<a>", "expected <opencv_storage>"},
      {"NestedThousandfold",
       replaced(valid, "<features>", repeated("<a>", 1001) + repeated("</a>", 1001) + "<features>"),
       "<a>", "nested more than 1000 deep"},
      {"EmptyStorage", head + "<opencv_storage></opencv_storage>", "<?xml",
       "expected one with a cascade"},
      {"OtherStorage", head + "<opencv_storage>\n<matrix>1</matrix></opencv_storage>", "<matrix>",
       "expected one with a cascade"},
      {"OtherModel", head + "<opencv_storage>\n<svm><C>1</C></svm></opencv_storage>", "<svm>",
       "expected <stageType> or <size> inside"},
      {"LongName", head + "<opencv_storage><" + repeated("a", 100'000) + "/></opencv_storage>",
       "aaa", "empty tags"},
      {"YamlWithoutValues", "%YAML:1.0\n---\ncascade:\n", "", unfinished},
      {"YamlVersion2", "%YAML:2.0\n---\na: 1\n", "%YAML", "expected version 1 of YAML"},
      {"YamlTab", "%YAML:1.0\n---\na:\n\tb: 1\n", "\tb", "tabs are not allowed"},
      {"YamlIndentation", "%YAML:1.0\n---\na:\n - 1\n   - 2\n", "- 2", "wrong indentation"},
      {"YamlFlow", "%YAML:1.0\n---\na: [ 1 2 ]\n", "[ 1 2 ]", "expected ',' or ']'"},
      {"YamlNested", "%YAML:1.0\n---\na: " + repeated("[", 2000) + "\n", "[[", "nested more than"},
      {"YamlBase64", "%YAML:1.0\n---\na: !!binary |\n  MmYg\n", "binary", "base64"},
      {"YamlMatrix", "%YAML:1.0\n---\na: 1\n", "a: 1", "expected one with a cascade"},
      {"JsonCut", "{\n\"cascade\": {\n", "", unfinished},
      {"JsonNull", "{\n\"cascade\": null}", "null", "expected a number, a word in quotes"},
      {"JsonWithoutComma", "{\n\"a\": [1 2]}", "[1 2]", "expected ',' or ']'"},
      {"JsonNested", "{\n\"a\": " + repeated("[", 2000), "[[", "nested more than"},
      {"JsonBase64", "{\n\"a\": \"$base64$MmYg\"}", "base64", "base64"},
      {"JsonSign", "{\n\"a\": -}", "-}", "expected a number"},
  };
}

// ---- opencv-cascade-classifier ------------------------------------------------------------------

constexpr Change head_changes[] = {
    {"OtherStageType", ">BOOST<", ">LOGIT<", "<stageType>: expected BOOST, found \"LOGIT\""},
    {"Hog", ">HAAR<", ">HOG<", "<featureType>: expected HAAR or LBP, found \"HOG\""},
    {"NarrowWindow", "<width>12", "<width>2", "<width>: a window of 2 x 10 is too small"},
    {"LowWindow", "<height>10</height>\n  <width>12", "<height>2</height><width>12",
     "a window of 12 x 2 is too small; expected 3 x 3 or more"},
    {"NegativeWindow", "<width>12", "<width>-12",
     "expected a whole number from 1 to 1000000, found -12"},
    {"HugeWindow", "<width>12", "<width>1e300", "expected a whole number of 32 bits"},
    {"LargeWindow", "<height>10</height>\n  <width>12", "<height>1026</height><width>67",
     "<width>: a window of 67 x 1026 is too large; without its border, its area may be at most "
     "66051 pixels"},
    {"WordForAWindow", "<width>12", "<width>wide", "<width>: expected a number, found \"wide\""},
    {"Reference", "<stageNum>2", "<stageNum>&two of", "expected ';' at the end of a reference"},
    {"NoNumberForAWindow", "<width>12", "<width>", "<width>: expected one number, found 0"},
    {"TwoNumbersForAWindow", "<width>12", "<width>12 12", "<width>: expected one number, found 2"},
};

constexpr Change stage_changes[] = {
    {"NanStage", "<stageThreshold>-0.5", "<stageThreshold>nan",
     "<stageThreshold>: expected a number, found \"nan\""},
    {"InfiniteStage", "<stageThreshold>-0.5", "<stageThreshold>-.Inf",
     "<stageThreshold>: \"-.Inf\" is not a finite 32-bit float"},
    {"StageBeyondDouble", "<stageThreshold>-0.5", "<stageThreshold>1e999",
     "\"1e999\" is not a finite 32-bit float"},
    {"StageBeyondFloat", "<stageThreshold>-0.5", "<stageThreshold>1e39",
     "\"1e39\" is not a finite 32-bit float"},
    {"ThreeNumbersForANode", "0 -1 0 0.25", "0 -1 0",
     "<internalNodes>: expected 4 numbers for each node, found 3"},
    {"FiveNumbersForANode", "0 -1 0 0.25", "0 -1 0 0.25 1",
     "expected 4 numbers for each node, found 5"},
    {"NoNumbersForANode", ">0 -1 0 0.25", ">", "expected 4 numbers for each node, found 0"},
    {"WordInANode", "0 -1 0 0.25", "0 -1 O 0.25",
     "<internalNodes>: expected a number, found \"O\""},
    {"Reference", "0 -1 0 0.25", "0 -1 &#48; 0.25", "expected a number, found \"&#48;\""},
    {"GluedNumbers", "0 -1 0 0.25", "0 -1 0 0.25x", "expected a number, found \"0.25x"},
    {"GluedIntegers", "0 -1 0 0.25", "0 -1 09 0.25", "expected white space between two values"},
    {"NanNode", "0 -1 0 0.25", "0 -1 0 .Nan", "\".Nan\" is not a finite 32-bit float"},
    {"NodeBeyondFloat", "0 -1 0 0.25", "0 -1 0 -1e300", "\"-1e300\" is not a finite"},
    {"NegativeFeature", "0 -1 0 0.25", "0 -1 -1 0.25",
     "expected a whole number from 0 to 2, found -1"},
    {"FeatureBeyondTheLast", "0 -1 0 0.25", "0 -1 3 0.25",
     "expected a whole number from 0 to 2, found 3"},
    {"OneLeaf", "<leafValues>1 -1", "<leafValues>1",
     "<leafValues>: expected 2 leaves for 1 nodes, found 1"},
    {"ThreeLeaves", "<leafValues>1 -1", "<leafValues>1 -1 0",
     "<leafValues>: expected 2 leaves for 1 nodes, found 3"},
    {"LeafBeyondFloat", "<leafValues>1 -1", "<leafValues>3.5e38 -1", "is not a finite"},
};

constexpr const char* outside_window = "the feature reaches outside the window of 12 x 10";

constexpr Change feature_changes[] = {
    {"NegativeX", "0 0 6 4 -1.", "-1 0 6 4 -1.", outside_window},
    {"NegativeY", "0 0 6 4 -1.", "0 -1 6 4 -1.", outside_window},
    {"NegativeHeight", "0 0 6 4 -1.", "0 0 6 -4 -1.", outside_window},
    {"HugeX", "0 0 6 4 -1.", "2147483647 0 6 4 -1.", outside_window},
    {"HugeWidth", "3 0 3 4 2.", "3 0 2147483647 4 2.", outside_window},
    {"HugeHeight", "0 0 6 4 -1.", "0 0 6 1e300 -1.",
     "<rects>: expected a whole number of 32 bits, found \"1e300\""},
    {"BeyondTheRight", "0 0 6 4 -1.", "7 0 6 4 -1.", outside_window},
    {"BeyondTheBottom", "0 0 6 4 -1.", "0 7 6 4 -1.", outside_window},
    {"BeyondInItsThirdPart", "1 4 9 2 0.5", "4 4 9 2 0.5", outside_window},
    {"TiltedBeyondTheLeft", "5 1 4 3 -1.", "2 1 4 3 -1.", outside_window},
    {"TiltedBeyondTheRight", "5 1 4 3 -1.", "9 1 4 3 -1.", outside_window},
    {"TiltedBeyondTheBottom", "5 1 4 3 -1.", "5 4 4 3 -1.", outside_window},
    {"TiltedByAWord", "<tilted>1", "<tilted>yes", "<tilted>: expected a number, found \"yes\""},
    {"NanWeight", "0 0 6 4 -1.", "0 0 6 4 nan", "expected a number, found \"nan\""},
    {"WeightBeyondFloat", "0 0 6 4 -1.", "0 0 6 4 1e300", "is not a finite 32-bit float"},
    {"FourRectangles", "<_>1 4 9 2 0.5</_>", "<_>1 4 9 2 0.5</_><_>1 1 1 1 1</_>",
     "expected at most 3 rectangles in a feature"},
};

Damages missing_elements() {
  const std::string valid = stump_cascade(), cascade = "<cascade>";
  const auto inside = [](const std::string& name) { return "expected <" + name + "> inside"; };
  return {
      {"NoStageType", without(valid, "<stageType>", "<featureType>"), cascade,
       "expected <stageType> or <size> inside"},
      {"NoFeatureType", without(valid, "<featureType>", "<height>"), cascade,
       inside("featureType")},
      {"NoHeight", without(valid, "<height>", "<width>"), cascade, inside("height")},
      {"NoWidthElement", without(valid, "<width>", "<stageParams>"), cascade, inside("width")},
      {"NoFeatureParams", without(valid, "<featureParams>", "<stageNum>"), cascade,
       inside("featureParams")},
      {"NoStagesElement", without(valid, "<stages>", "<features>"), cascade, inside("stages")},
      {"NoStages", without(valid, "    <_>\n      <max", "</stages>"), cascade,
       "expected at least one stage"},
      {"NoFeaturesElement", without(valid, "<features>", "</cascade>"), cascade,
       inside("features")},
      {"NoFeatures",
       without(replaced(valid, "<features>\n", "<features>"), "    <_>\n      <rects>",
               "</features>"),
       "<features>", "<features>: expected at least one feature"},
      {"NoTreesElement",
       without(valid, "<weakClassifiers>\n        <_>\n          <internalNodes>0 -1 2",
               "</_></stages>"),
       "<_>", inside("weakClassifiers")},
      {"NoNodes", without(valid, "<internalNodes>", "<leafValues>"), "<_>",
       inside("internalNodes")},
      {"NoLeaves", without(valid, "<leafValues>", "</_>"), "<_>", inside("leafValues")},
  };
}

constexpr Change tree_changes[] = {
    {"NodeLeadsToItself", "-1 -2 1 -0.125", "-1 1 1 -0.125",
     "<internalNodes>: node 1 leads back to node 1; expected a later node or a leaf"},
    {"NodeLeadsBack",
     "1 0 0 0.25 -1 -2 1 -0.125</internalNodes>\n          <leafValues>0.75 -0.75 0.5",
     "2 1 0 0.25 -1 -2 1 0 -3 1 1 0.5</internalNodes><leafValues>0.75 -0.75 0.5 1",
     "node 2 leads back to node 1"},
    {"NodeBeyondTheLast", "1 0 0 0.25", "2 0 0 0.25",
     "node 0 leads to 2; expected a number from -2 to 1"},
    {"LeafBeyondTheLast", "-1 -2 1 -0.125", "-1 -3 1 -0.125",
     "node 1 leads to -3; expected a number from -2 to 1"},
    {"TwoLeaves", "0.75 -0.75 0.5", "0.75 -0.75",
     "<leafValues>: expected 3 leaves for 2 nodes, found 2"},
    {"OneNodeAndAHalf", "-1 -2 1 -0.125", "-1 -2", "expected 4 numbers for each node, found 6"},
};

constexpr Change lbp_changes[] = {
    {"TenNumbersForANode", " 0 1 2 3 4", " 0 1 2 3", "expected 11 numbers for each node, found 10"},
    {"TwelveNumbersForANode", " 0 1 2 3 4", " 0 1 2 3 4 5",
     "expected 11 numbers for each node, found 12"},
    {"WordAmongCodes", " 0 1 2 3 4", " 0 1 two 3 4",
     "<internalNodes>: expected a number, found \"two\""},
    {"FeatureBeyondTheLast", "0 -1 1 8", "0 -1 2 8",
     "expected a whole number from 0 to 1, found 2"},
    {"BeyondTheRight", "0 1 4 3", "1 1 4 3",
     "<rect>: the feature reaches outside the window of 12 x 10"},
    {"BeyondTheBottom", "0 1 4 3", "0 2 4 3",
     "<rect>: the feature reaches outside the window of 12 x 10"},
    {"HugeBlock", "0 1 4 3", "0 1 1431655766 3", "the feature reaches outside the window"},
    {"NoCategories", "<maxCatCount>256", "<maxCatCount>0", "expected a <maxCatCount> of 256"},
    {"FewCategories", "<maxCatCount>256", "<maxCatCount>224", "expected a <maxCatCount> of 256"},
    {"LargeWindow", "<height>10</height>\n  <width>12", "<height>4104</height><width>4105",
     "<width>: a window of 4105 x 4104 is too large; its area may be at most 16843009 pixels"},
};

// ---- opencv-haar-classifier ---------------------------------------------------------------------

constexpr Change old_changes[] = {
    {"OneSide", "<size>12 10", "<size>12", "<size>: expected a sequence"},
    {"LowWindow", "<size>12 10", "<size>12 2", "<size>: a window of 12 x 2 is too small"},
    {"LargeWindow", "<size>12 10", "<size>300 300",
     "a window of 300 x 300 is too large; without its border, its area may be at most 66051"},
    {"NanThreshold", "<threshold>0.25", "<threshold>nan",
     "<threshold>: expected a number, found \"nan\""},
    {"ThresholdBeyondFloat", "<threshold>0.25", "<threshold>1e39", "is not a finite 32-bit float"},
    {"LeafBeyondDouble", "<left_val>0.75", "<left_val>1e999",
     "<left_val>: \"1e999\" is not a finite 32-bit float"},
    {"FourNumbersForARectangle", "0 0 6 4 -1.", "0 0 6 4",
     "<rects>: expected x y width height weight"},
    {"BeyondTheRight", "0 0 6 4 -1.", "7 0 6 4 -1.", outside_window},
    {"TiltedBeyondTheLeft", "5 1 4 3 -1.", "2 1 4 3 -1.", outside_window},
    {"NanStage", "<stage_threshold>-1", "<stage_threshold>nan",
     "<stage_threshold>: expected a number"},
};

Damages old_elements() {
  const std::string valid = old_cascade(), plate = "<plate";
  const std::string trees = "<trees>\n        <_>\n";
  return {
      {"OldNoSize", without(valid, "<size>", "<stages>"), plate,
       "expected <stageType> or <size> inside"},
      {"OldNoStagesElement", without(valid, "<stages>", "</plate>"), plate,
       "expected at least one stage"},
      {"OldNoStages", without(valid, "    <_>\n      <trees>", "</stages>"), plate,
       "expected at least one stage"},
      {"OldNoTreesElement", without(valid, "<trees>", "<stage_threshold>"), plate,
       "expected at least one feature"},
      {"OldNoNodes", without(valid, "          <_>\n            <feature>", "</_></trees>"), "<_>",
       "expected 1 to 4096 nodes in a tree, found 0"},
      {"OldNoChild", without(valid, "<left_val>", "<right_node>"), "<_>",
       "<trees>: expected 3 leaves for 2 nodes, found 2"},
      {"OldNodeBeyondTheLast", replaced(valid, "<right_node>1", "<right_node>2"), "<_>",
       "<trees>: node 0 leads to 2; expected a number from -2 to 1"},
      {"OldLeafTooMany", replaced(valid, "<right_node>1</right_node>", "<right_val>1</right_val>"),
       "<_>", "expected 3 leaves for 2 nodes, found 4"},
      {"OldLeafTooFew", replaced(valid, "<left_val>0.75</left_val>", "<left_node>1</left_node>"),
       "<_>", "expected 3 leaves for 2 nodes, found 2"},
      {"OldCountlessNodes",
       replaced(valid, trees, "<trees><_>" + repeated("<_></_>", max_tree_nodes + 1) + "</_><_>\n"),
       "<_></_>", "expected 1 to 4096 nodes in a tree, found 4097"},
  };
}

Damages countless_nodes() {
  const auto damage = [](const char* name, const std::string& xml, const std::string& node) {
    return Damage{name, replaced(xml, node, repeated(node + " ", max_tree_nodes + 1)),
                  "<internalNodes>",
                  "<internalNodes>: expected 1 to 4096 nodes in a tree, found 4097"};
  };
  return {damage("CountlessNodes", stump_cascade(), "0 -1 0 0.25"),
          damage("CountlessLbpNodes", lbp_cascade(), "0 -1 1 8 7 6 5 4 3 2 1")};
}

// ---- the test -----------------------------------------------------------------------------------

Damages all_damages() {
  const std::string stumps = stump_cascade();
  Damages all;
  for (const Damages& part :
       {other_files(), missing_elements(), countless_nodes(), changes("Head", stumps, head_changes),
        changes("Stage", stumps, stage_changes), changes("Feature", stumps, feature_changes),
        changes("Tree", tree_cascade(), tree_changes), changes("Lbp", lbp_cascade(), lbp_changes),
        changes("Old", old_cascade(), old_changes), old_elements()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

class DamagedCascade : public ::testing::TestWithParam<Damage> {};

std::string line_of(const std::string& text, int number) {
  std::istringstream in(text);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(in, line);
  return line;
}

TEST_P(DamagedCascade, IsRefusedWithFileLineAndExpectation) {
  const Damage& damage = GetParam();
  const std::string message =
      message_of<CascadeError>([&] { parse_cascade(damage.xml, "test.xml"); });
  int line = 0, prefix = 0;
  std::sscanf(message.c_str(), "test.xml, line %d: %n", &line, &prefix);
  ASSERT_GT(prefix, 0) << message;  // set only if all of the format matched
  EXPECT_TRUE(has(line_of(damage.xml, line), damage.line)) << message;
  EXPECT_TRUE(has(message, damage.words));
  EXPECT_LT(message.size(), 250u);  // a message quotes long text only in part
}

INSTANTIATE_TEST_SUITE_P(CascadeParser, DamagedCascade, ::testing::ValuesIn(all_damages()),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace facesat::test

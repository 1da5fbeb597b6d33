// Damaged cascade files. Each must be refused with a message that names the file, the line and what
// was expected there.
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/cascade.hpp"
#include "tests/core/cascades.hpp"

namespace facesat::test {
namespace {

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
  const char *malformed = "this is not well-formed XML", *storage = "expected <opencv_storage>";
  const std::string valid = stump_cascade();
  const std::string nested = repeated("<a>", 1 << 20);
  return {
      {"Empty", "", "", malformed},
      {"WhiteSpace", " \n \n", "", malformed},
      {"Text", "a face", "", malformed},
      {"Jpeg", std::string("\xFF\xD8\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xFF\xDB", 22), "",
       malformed},
      {"Yaml", "%YAML:1.0\n---\ncascade:\n", "", malformed},
      {"CutInATag", valid.substr(0, valid.find("features>") + 4), "<feat", malformed},
      {"CutInANumber", valid.substr(0, valid.find("0.0625") + 3), "0.0", malformed},
      {"CutBeforeTheEnd", valid.substr(0, valid.find("</opencv_storage>")), "", malformed},
      {"WrongEndTag", replaced(valid, "</stages>", "</stage>"), "</stage>", malformed},
      {"NestedMillionfold", nested, "<a>", malformed},
      {"NestedAndClosed", nested + repeated("</a>", 1 << 20), "<a>", storage},
      {"Html", "<!DOCTYPE html>\n<html><body/></html>", "", storage},
      {"EmptyStorage", "<opencv_storage/>", "", storage},
      {"OtherStorage", "<opencv_storage>\n<matrix>1</matrix></opencv_storage>", "<matrix>",
       storage},
      {"OtherType", replaced(valid, "<cascade>", "<cascade type_id=\"opencv-svm\">"), "opencv-svm",
       storage},
      {"LongName", "<opencv_storage><" + repeated("a", 100'000) + "/></opencv_storage>", "aaa",
       storage},
  };
}

// ---- opencv-cascade-classifier ------------------------------------------------------------------

constexpr Change head_changes[] = {
    {"OtherStageType", ">BOOST<", ">LOGIT<", "<stageType>: expected BOOST, found \"LOGIT\""},
    {"Hog", ">HAAR<", ">HOG<", "<featureType>: expected HAAR or LBP, found \"HOG\""},
    {"NarrowWindow", "<width>12", "<width>2",
     "<width>: expected a whole number from 3 to 4096, found 2"},
    {"LowWindow", "<height>10", "<height>2",
     "<height>: expected a whole number from 3 to 4096, found 2"},
    {"NegativeWindow", "<width>12", "<width>-12",
     "expected a whole number from 3 to 4096, found -12"},
    {"WideWindow", "<width>12", "<width>4097",
     "expected a whole number from 3 to 4096, found 4097"},
    {"HugeWindow", "<width>12", "<width>1e300", "expected a whole number from 3 to 4096"},
    {"LargeWindow", "<height>10</height>\n  <width>12", "<height>1024</height><width>65",
     "<width>: a window of 65 x 1024 is too large; its area may be at most 66051 pixels"},
    {"FractionalWindow", "<width>12", "<width>12.5",
     "expected a whole number from 3 to 4096, found 12.5"},
    {"WordForAWindow", "<width>12", "<width>wide", "<width>: expected numbers, found \"wide\""},
    {"NoNumberForAWindow", "<width>12", "<width>", "<width>: expected one number, found 0"},
    {"TwoNumbersForAWindow", "<width>12", "<width>12 12", "<width>: expected one number, found 2"},
    {"Categories", "<maxCatCount>0", "<maxCatCount>256", "<maxCatCount>: expected 0, found 256"},
    {"TooFewStages", "<stageNum>2", "<stageNum>3", "<stageNum>: the file says 3, but there are 2"},
    {"CountlessStages", "<stageNum>2", "<stageNum>4000000000",
     "the file says 4000000000, but there are 2"},
    {"CountlessTrees", "<maxWeakCount>1<", "<maxWeakCount>1e9<",
     "<maxWeakCount>: the file says 1000000000, but there are 1"},
    {"NegativeTrees", "<maxWeakCount>1<", "<maxWeakCount>-1<", "the file says -1, but there are 1"},
};

constexpr Change stage_changes[] = {
    {"NanStage", "<stageThreshold>-0.5", "<stageThreshold>nan",
     "<stageThreshold>: expected numbers, found \"nan\""},
    {"InfiniteStage", "<stageThreshold>-0.5", "<stageThreshold>-inf",
     "expected numbers, found \"-inf\""},
    {"StageBeyondDouble", "<stageThreshold>-0.5", "<stageThreshold>1e999",
     "expected numbers, found \"1e999\""},
    {"StageBeyondFloat", "<stageThreshold>-0.5", "<stageThreshold>1e39",
     "too large for a 32-bit float"},
    {"ThreeNumbersForANode", "0 -1 0 0.25", "0 -1 0",
     "<internalNodes>: expected 4 numbers for each node, found 3"},
    {"FiveNumbersForANode", "0 -1 0 0.25", "0 -1 0 0.25 1",
     "expected 4 numbers for each node, found 5"},
    {"NoNumbersForANode", ">0 -1 0 0.25", ">", "expected 4 numbers for each node, found 0"},
    {"WordInANode", "0 -1 0 0.25", "0 -1 O 0.25",
     "<internalNodes>: expected numbers, found \"O 0.25\""},
    {"LongInteger", "0 0 6 4 -1.", "0 0 6 4 2147483648", "an integer does not fit into 32 bits"},
    {"Reference", "0 -1 0 0.25", "0 -1 &#48; 0.25", "expected numbers, found \"&#48; 0.25\""},
    {"GluedNumbers", "0 -1 0 0.25", "0 -1 0 0.25x", "expected numbers, found \"0.25x\""},
    {"NanNode", "0 -1 0 0.25", "0 -1 0 nan", "expected numbers, found \"nan\""},
    {"NodeBeyondFloat", "0 -1 0 0.25", "0 -1 0 -1e300", "too large for a 32-bit float"},
    {"NegativeFeature", "0 -1 0 0.25", "0 -1 -1 0.25",
     "expected a whole number from 0 to 2, found -1"},
    {"FeatureBeyondTheLast", "0 -1 0 0.25", "0 -1 3 0.25",
     "expected a whole number from 0 to 2, found 3"},
    {"HugeFeature", "0 -1 0 0.25", "0 -1 4294967296 0.25",
     "expected a whole number from 0 to 2, found 4294967296"},
    {"HalfAFeature", "0 -1 0 0.25", "0 -1 0.5 0.25",
     "expected a whole number from 0 to 2, found 0.5"},
    {"StumpLeadsToItself", "0 -1 0 0.25", "1 -1 0 0.25",
     "expected a whole number from -1 to 0, found 1"},
    {"LeafBeyondTheLast", "0 -1 0 0.25", "0 -2 0 0.25",
     "expected a whole number from -1 to 0, found -2"},
    {"OneLeaf", "<leafValues>1 -1", "<leafValues>1", "<leafValues>: expected 2 numbers, found 1"},
    {"ThreeLeaves", "<leafValues>1 -1", "<leafValues>1 -1 0",
     "<leafValues>: expected 2 numbers, found 3"},
    {"NanLeaf", "<leafValues>1 -1", "<leafValues>1 nan", "expected numbers, found \"nan\""},
    {"LeafBeyondDouble", "<leafValues>1 -1", "<leafValues>1e999 -1",
     "expected numbers, found \"1e999 -1\""},
    {"LeafBeyondFloat", "<leafValues>1 -1", "<leafValues>3.5e38 -1",
     "too large for a 32-bit float"},
};

constexpr Change feature_changes[] = {
    {"FourNumbersForARectangle", "0 0 6 4 -1.", "0 0 6 4",
     "expected x y width height weight, found 4 numbers"},
    {"SixNumbersForARectangle", "0 0 6 4 -1.", "0 0 6 4 -1. 2",
     "expected x y width height weight, found 6 numbers"},
    {"NegativeX", "0 0 6 4 -1.", "-1 0 6 4 -1.", "expected a whole number from 0 to 12, found -1"},
    {"NegativeY", "0 0 6 4 -1.", "0 -1 6 4 -1.", "expected a whole number from 0 to 10, found -1"},
    {"NoWidth", "0 0 6 4 -1.", "0 0 0 4 -1.", "expected a whole number from 1 to 12, found 0"},
    {"NegativeHeight", "0 0 6 4 -1.", "0 0 6 -4 -1.",
     "expected a whole number from 1 to 10, found -4"},
    {"HalfAPixel", "0 0 6 4 -1.", "0.5 0 6 4 -1.",
     "expected a whole number from 0 to 12, found 0.5"},
    {"HugeX", "0 0 6 4 -1.", "2147483648 0 6 4 -1.",
     "expected a whole number from 0 to 12, found 2147483648"},
    {"HugeHeight", "0 0 6 4 -1.", "0 0 6 1e300 -1.", "expected a whole number from 1 to 10"},
    {"BeyondTheRight", "0 0 6 4 -1.", "7 0 6 4 -1.",
     "the feature reaches outside the window of 12 x 10"},
    {"BeyondTheBottom", "0 0 6 4 -1.", "0 7 6 4 -1.",
     "the feature reaches outside the window of 12 x 10"},
    {"BeyondInItsThirdPart", "1 4 9 2 0.5", "4 4 9 2 0.5",
     "the feature reaches outside the window of 12 x 10"},
    {"TiltedBeyondTheLeft", "5 1 4 3 -1.", "2 1 4 3 -1.",
     "the feature reaches outside the window of 12 x 10"},
    {"TiltedBeyondTheRight", "5 1 4 3 -1.", "9 1 4 3 -1.",
     "the feature reaches outside the window of 12 x 10"},
    {"TiltedBeyondTheBottom", "5 1 4 3 -1.", "5 4 4 3 -1.",
     "the feature reaches outside the window of 12 x 10"},
    {"TiltedTwice", "<tilted>1", "<tilted>2",
     "<tilted>: expected a whole number from 0 to 1, found 2"},
    {"TiltedByAWord", "<tilted>1", "<tilted>yes", "<tilted>: expected numbers, found \"yes\""},
    {"NanWeight", "0 0 6 4 -1.", "0 0 6 4 nan", "expected numbers, found \"nan\""},
    {"WeightBeyondFloat", "0 0 6 4 -1.", "0 0 6 4 1e300", "too large for a 32-bit float"},
    {"FourRectangles", "<_>1 4 9 2 0.5</_>", "<_>1 4 9 2 0.5</_><_>1 1 1 1 1</_>",
     "expected at most 3 rectangles in a feature"},
};

Damages missing_elements() {
  const std::string valid = stump_cascade(), stage = "<stageThreshold>0.25", cascade = "<cascade>";
  const auto inside = [](const std::string& name) {
    return "expected an element <" + name + "> inside";
  };
  return {
      {"NoStageType", without(valid, "<stageType>", "<featureType>"), cascade, inside("stageType")},
      {"NoFeatureType", without(valid, "<featureType>", "<height>"), cascade,
       inside("featureType")},
      {"NoHeight", without(valid, "<height>", "<width>"), cascade, inside("height")},
      {"NoWidthElement", without(valid, "<width>", "<stageParams>"), cascade, inside("width")},
      {"NoFeatureParams", without(valid, "<featureParams>", "<stageNum>"), cascade,
       inside("featureParams")},
      {"NoCategories", without(valid, "<maxCatCount>", "</featureParams>"), "<featureParams>",
       inside("maxCatCount")},
      {"NoStagesElement", without(valid, "<stages>", "<features>"), cascade, inside("stages")},
      {"NoStages", without(valid, "    <_>\n      <max", "</stages>"), "<stages>",
       "expected at least one stage"},
      {"NoFeaturesElement", without(valid, "<features>", "</cascade>"), cascade,
       inside("features")},
      {"NoFeatures",
       without(replaced(valid, "<features>\n", "<features>"), "    <_>\n      <rects>",
               "</features>"),
       "<features>", "<features>: expected at least one feature"},
      {"NoStageThreshold",
       without(valid, stage, "<weakClassifiers>\n        <_>\n          <internalNodes>0 -1 2"),
       "<_>", inside("stageThreshold")},
      {"NoTrees",
       replaced(without(valid, stage, "</weakClassifiers></_></stages>"),
                "</weakClassifiers></_></stages>",
                stage + "</stageThreshold><weakClassifiers/></_></stages>"),
       stage, "expected at least one tree in a stage"},
      {"NoTreesElement",
       without(valid, "<weakClassifiers>\n        <_>\n          <internalNodes>0 -1 2",
               "</_></stages>"),
       "<_>", inside("weakClassifiers")},
      {"NoNodes", without(valid, "<internalNodes>", "<leafValues>"), "<_>",
       inside("internalNodes")},
      {"NoLeaves", without(valid, "<leafValues>", "</_>"), "<_>", inside("leafValues")},
      {"NoRectanglesElement", without(valid, "<rects>", "<tilted>0"), "<_>", inside("rects")},
      {"NoRectangles", without(valid, "<_>0 0 6", "</rects>"), "<_>",
       "expected at least one rectangle in a feature"},
  };
}

constexpr Change tree_changes[] = {
    {"NodeLeadsToItself", "-1 -2 1 -0.125", "-1 1 1 -0.125",
     "<internalNodes>: node 1 leads back to node 1; expected a later node or a leaf"},
    {"NodeLeadsBack", "1 0 0 0.25 -1 -2 1 -0.125", "2 1 0 0.25 -1 -2 1 0 -3 1 1 0.5",
     "node 2 leads back to node 1"},
    {"NodeBeyondTheLast", "1 0 0 0.25", "2 0 0 0.25",
     "expected a whole number from -2 to 1, found 2"},
    {"LeafBeyondTheLast", "-1 -2 1 -0.125", "-1 -3 1 -0.125",
     "expected a whole number from -2 to 1, found -3"},
    {"HalfANode", "1 0 0 0.25", "0.5 0 0 0.25", "expected a whole number from -2 to 1, found 0.5"},
    {"TwoLeaves", "0.75 -0.75 0.5", "0.75 -0.75", "<leafValues>: expected 3 numbers, found 2"},
    {"OneNodeAndAHalf", "-1 -2 1 -0.125", "-1 -2", "expected 4 numbers for each node, found 6"},
};

constexpr Change lbp_changes[] = {
    {"TenNumbersForANode", " 0 1 2 3 4", " 0 1 2 3", "expected 11 numbers for each node, found 10"},
    {"TwelveNumbersForANode", " 0 1 2 3 4", " 0 1 2 3 4 5",
     "expected 11 numbers for each node, found 12"},
    {"WordOf33Bits", "2147483647", "2147483648",
     "expected a whole number from -2147483648 to 2147483647"},
    {"FractionalWord", "2147483647", "0.5",
     "expected a whole number from -2147483648 to 2147483647, found 0.5"},
    {"FeatureBeyondTheLast", "0 -1 1 8", "0 -1 2 8",
     "expected a whole number from 0 to 1, found 2"},
    {"BeyondTheRight", "0 1 4 3", "1 1 4 3",
     "<rect>: the feature reaches outside the window of 12 x 10"},
    {"BeyondTheBottom", "0 1 4 3", "0 2 4 3",
     "<rect>: the feature reaches outside the window of 12 x 10"},
    {"HugeBlock", "0 1 4 3", "0 1 1431655766 3", "expected a whole number from 1 to 12"},
    {"EmptyBlock", "0 1 4 3", "0 1 0 3", "expected a whole number from 1 to 12, found 0"},
    {"ThreeNumbersForABlock", "0 1 4 3", "0 1 4",
     "<rect>: expected x y width height, found 3 numbers"},
    {"NoCategories", "<maxCatCount>256", "<maxCatCount>0", "<maxCatCount>: expected 256, found 0"},
};

// ---- opencv-haar-classifier ---------------------------------------------------------------------

constexpr Change old_changes[] = {
    {"OneSide", "<size>12 10", "<size>12", "<size>: expected width height, found 1 numbers"},
    {"ThreeSides", "<size>12 10", "<size>12 10 8",
     "<size>: expected width height, found 3 numbers"},
    {"LowWindow", "<size>12 10", "<size>12 2",
     "<size>: expected a whole number from 3 to 4096, found 2"},
    {"LargeWindow", "<size>12 10", "<size>300 300",
     "a window of 300 x 300 is too large; its area may be at most 66051 pixels"},
    {"NanThreshold", "<threshold>0.25", "<threshold>nan",
     "<threshold>: expected numbers, found \"nan\""},
    {"ThresholdBeyondFloat", "<threshold>0.25", "<threshold>1e39", "too large for a 32-bit float"},
    {"LeafBeyondDouble", "<left_val>0.75", "<left_val>1e999",
     "<left_val>: expected numbers, found \"1e999\""},
    {"NodeLeadsToTheRoot", "<right_node>1", "<right_node>0", "<right_node>: expected 1, found 0"},
    {"NodeBeyondTheLast", "<right_node>1", "<right_node>2", "<right_node>: expected 1, found 2"},
    {"NodeLeadsToItself", "<right_val>0.5</right_val>", "<right_node>1</right_node>",
     "<right_node>: node 1 is the tree's last; expected a leaf, <right_val>"},
    {"BeyondTheRight", "0 0 6 4 -1.", "7 0 6 4 -1.",
     "the feature reaches outside the window of 12 x 10"},
    {"TiltedBeyondTheLeft", "5 1 4 3 -1.", "2 1 4 3 -1.",
     "the feature reaches outside the window of 12 x 10"},
    {"NanStage", "<stage_threshold>-1", "<stage_threshold>nan",
     "<stage_threshold>: expected numbers"},
};

Damages old_elements() {
  const std::string valid = old_cascade(), plate = "<plate";
  const auto inside = [](const std::string& name) {
    return "expected an element <" + name + "> inside";
  };
  const std::string trees = "<trees>\n        <_>\n";
  return {
      {"OldNoSize", without(valid, "<size>", "<stages>"), plate, inside("size")},
      {"OldNoStagesElement", without(valid, "<stages>", "</plate>"), plate, inside("stages")},
      {"OldNoStages", without(valid, "    <_>\n      <trees>", "</stages>"), "<stages>",
       "expected at least one stage"},
      {"OldNoTreesElement", without(valid, "<trees>", "<stage_threshold>"), "<_>", inside("trees")},
      {"OldNoTrees", without(valid, "        <_>\n          <_>", "</trees>"), "<stage_threshold>",
       "expected at least one tree in a stage"},
      {"OldNoNodes", without(valid, "          <_>\n            <feature>", "</_></trees>"), "<_>",
       "expected 1 to 4096 nodes in a tree, found 0"},
      {"OldNoFeature", without(valid, "<feature>", "<threshold>"), "<_>", inside("feature")},
      {"OldNoRectangles", without(valid, "<rects>", "<tilted>"), "<feature>", inside("rects")},
      {"OldNoThreshold", without(valid, "<threshold>", "<left_val>"), "<_>", inside("threshold")},
      {"OldNoChild", without(valid, "<left_val>", "<right_node>"), "<_>", inside("left_node")},
      {"OldNoStageThreshold", without(valid, "<stage_threshold>", "<parent>"), "<_>",
       inside("stage_threshold")},
      {"OldLeafTooMany", replaced(valid, "<right_node>1</right_node>", "<right_val>1</right_val>"),
       "<_>", "expected 3 leaves for 2 nodes, found 4"},
      {"OldLeafTooFew", replaced(valid, "<left_val>0.75</left_val>", "<left_node>1</left_node>"),
       "<_>", "expected 3 leaves for 2 nodes, found 2"},
      {"OldCountlessNodes",
       replaced(valid, trees, "<trees><_>" + repeated("<_/>", max_tree_nodes + 1) + "</_><_>\n"),
       "<_/>", "expected 1 to 4096 nodes in a tree, found 4097"},
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
  try {
    parse_cascade(damage.xml, "test.xml");
    FAIL() << "accepted";
  } catch (const CascadeError& error) {
    const std::string message = error.what();
    int line = 0, prefix = 0;
    std::sscanf(message.c_str(), "test.xml, line %d: %n", &line, &prefix);
    ASSERT_GT(prefix, 0) << message;  // set only if all of the format matched
    EXPECT_NE(line_of(damage.xml, line).find(damage.line), std::string::npos) << message;
    EXPECT_NE(message.find(damage.words), std::string::npos) << message;
    EXPECT_LT(message.size(), 250u);  // a message quotes long text only in part
  }
}

INSTANTIATE_TEST_SUITE_P(CascadeXml, DamagedCascade, ::testing::ValuesIn(all_damages()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace facesat::test

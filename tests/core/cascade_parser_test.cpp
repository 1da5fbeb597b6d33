#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/cascade.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/messages.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

// ---- OpenCV's files -----------------------------------------------------------------------------

struct Counts {
  Size window;
  std::size_t stages, trees, features;
};

const std::map<std::string, Counts> known_counts = {
    {"haarcascade_frontalface_default", {{24, 24}, 25, 2913, 2913}},
    {"haarcascade_frontalface_alt", {{20, 20}, 22, 2135, 2135}},
    {"haarcascade_frontalface_alt2", {{20, 20}, 20, 1047, 2094}},
    {"haarcascade_frontalface_alt_tree", {{20, 20}, 47, 8468, 8468}},
    {"haarcascade_eye_tree_eyeglasses", {{20, 20}, 30, 851, 2553}},
    {"haarcascade_frontalcatface_extended", {{24, 24}, 20, 1184, 997}},
    {"haarcascade_fullbody", {{14, 28}, 30, 1464, 1464}},
    {"haarcascade_licence_plate_rus_16stages", {{64, 16}, 16, 91, 91}},
    {"haarcascade_smile", {{36, 18}, 20, 569, 569}},
    {"lbpcascade_frontalface", {{24, 24}, 20, 139, 136}},
    {"lbpcascade_silverware", {{12, 80}, 16, 130, 130}},
};

// Expects what evaluation relies on: the trees of stages, and the nodes and leaves of trees, follow
// each other without gaps; children lie within their tree.
void expect_sound(const Cascade& cascade) {
  ASSERT_FALSE(cascade.stages.empty());
  int next_tree = 0;
  for (const Stage& stage : cascade.stages) {
    EXPECT_EQ(stage.first_tree, next_tree);
    next_tree += stage.tree_count;
  }
  ASSERT_EQ(next_tree, std::ssize(cascade.trees));
  int next_node = 0, next_leaf = 0;
  for (const Tree& tree : cascade.trees) {
    EXPECT_EQ(tree.first_node, next_node);
    EXPECT_EQ(tree.first_leaf, next_leaf);
    next_node += tree.node_count;
    next_leaf += tree.node_count + 1;
    ASSERT_LE(next_node, std::ssize(cascade.nodes));
    for (int i = 0; i < tree.node_count; ++i) {
      const Node& node = cascade.nodes[tree.first_node + i];
      EXPECT_LT(node.feature, static_cast<int>(cascade.feature_count()));
      for (const int child : {node.left, node.right})
        EXPECT_TRUE(child > i ? child < tree.node_count : child <= 0 && -child <= tree.node_count);
    }
  }
  EXPECT_EQ(next_node, std::ssize(cascade.nodes));
  EXPECT_EQ(next_leaf, std::ssize(cascade.leaves));
}

TEST(CascadeParser, ReadsEveryFileOfOpenCv) {
  std::size_t known = 0;
  for (const std::filesystem::path& file : opencv_cascade_files()) {
    SCOPED_TRACE(file.string());
    const Cascade cascade = load_cascade(file);
    EXPECT_EQ(cascade.name, file.stem().string());
    expect_sound(cascade);
    EXPECT_EQ(cascade.kind == FeatureKind::lbp, cascade.haar.empty());
    EXPECT_EQ(cascade.kind == FeatureKind::haar, cascade.lbp.empty());
    const auto found = known_counts.find(cascade.name);
    if (found == known_counts.end()) continue;
    ++known;
    EXPECT_EQ(cascade.window, found->second.window);
    EXPECT_EQ(cascade.stages.size(), found->second.stages);
    EXPECT_EQ(cascade.trees.size(), found->second.trees);
    EXPECT_EQ(cascade.feature_count(), found->second.features);
  }
  EXPECT_GE(opencv_cascade_files().size(), 22u);  // as many as OpenCV 4.6 has
  EXPECT_EQ(known, known_counts.size());
}

// ---- small files of each form -------------------------------------------------------------------

Cascade parsed(const std::string& xml) {
  return parse_cascade(xml, "test.xml");
}

void expect_part(const HaarFeature::Part& part, const Rect& rect, float weight) {
  EXPECT_EQ(part.rect, rect);
  EXPECT_EQ(part.weight, weight);
}

void expect_node(const Node& node, int feature, float threshold, int left, int right) {
  EXPECT_EQ(node.feature, feature);
  EXPECT_EQ(node.threshold, threshold);
  EXPECT_EQ(node.left, left);
  EXPECT_EQ(node.right, right);
}

TEST(CascadeParser, ReadsStumps) {
  const Cascade cascade = parsed(stump_cascade());
  expect_sound(cascade);
  EXPECT_EQ(cascade.name, "test.xml");
  EXPECT_EQ(cascade.kind, FeatureKind::haar);
  EXPECT_EQ(cascade.window, (Size{12, 10}));
  ASSERT_EQ(cascade.stages.size(), 2u);
  EXPECT_EQ(cascade.stages[0].threshold, -0.5f - 1e-5f);
  EXPECT_EQ(cascade.stages[1].threshold, 0.25f - 1e-5f);
  EXPECT_EQ(cascade.stages[1].first_tree, 2);
  ASSERT_EQ(cascade.nodes.size(), 3u);
  expect_node(cascade.nodes[1], 1, -0.125f, 0, -1);
  EXPECT_EQ(cascade.leaves, (std::vector<float>{0.75f, -0.75f, -0.5f, 0.5f, 1, -1}));
  ASSERT_EQ(cascade.haar.size(), 3u);
  expect_part(cascade.haar[0].parts[1], {3, 0, 3, 4}, 2);
  expect_part(cascade.haar[0].parts[2], {}, 0);
  expect_part(cascade.haar[1].parts[2], {1, 4, 9, 2}, 0.5f);
  EXPECT_FALSE(cascade.haar[0].tilted);
  EXPECT_FALSE(cascade.haar[1].tilted);
  EXPECT_TRUE(cascade.haar[2].tilted);
}

TEST(CascadeParser, ReadsTrees) {
  const Cascade cascade = parsed(tree_cascade());
  expect_sound(cascade);
  ASSERT_EQ(cascade.nodes.size(), 3u);
  expect_node(cascade.nodes[0], 0, 0.25f, 1, 0);
  expect_node(cascade.nodes[1], 1, -0.125f, -1, -2);
  expect_node(cascade.nodes[2], 0, 0.5f, -1, 0);
  EXPECT_EQ(cascade.trees[1].first_leaf, 3);
}

// In a cascade of stumps, OpenCV takes a stump's first leaf as the left one, whatever its node
// says; a tree of one node among larger trees is evaluated as written (see the previous test).
TEST(CascadeParser, PutsAStumpsFirstLeafToTheLeft) {
  const Cascade cascade = parsed(replaced(stump_cascade(), "0 -1 1 -0.125", "-1 0 1 -0.125"));
  expect_node(cascade.nodes[1], 1, -0.125f, 0, -1);
}

TEST(CascadeParser, ReadsLbp) {
  const Cascade cascade = parsed(lbp_cascade());
  expect_sound(cascade);
  EXPECT_EQ(cascade.kind, FeatureKind::lbp);
  ASSERT_EQ(cascade.lbp.size(), 2u);
  EXPECT_EQ(cascade.lbp[0].block, (Rect{0, 1, 4, 3}));
  EXPECT_EQ(cascade.lbp[1].block, (Rect{3, 4, 2, 1}));
  ASSERT_EQ(cascade.nodes.size(), 2u);
  EXPECT_EQ(cascade.nodes[0].subset,
            (std::array<std::uint32_t, 8>{0xFFFFFFFFu, 0x7FFFFFFFu, 0x80000000u, 0, 1, 2, 3, 4}));
  EXPECT_EQ(cascade.nodes[1].feature, 1);
  EXPECT_EQ(cascade.leaves, (std::vector<float>{0.5f, -0.5f, -0.25f, 0.25f}));
  EXPECT_EQ(cascade.stages[0].threshold, -1e-5f);
}

TEST(CascadeParser, ReadsTheOldFormat) {
  const Cascade cascade = parsed(old_cascade());
  expect_sound(cascade);
  EXPECT_EQ(cascade.window, (Size{12, 10}));
  ASSERT_EQ(cascade.nodes.size(), 2u);
  expect_node(cascade.nodes[0], 0, 0.25f, 0, 1);
  expect_node(cascade.nodes[1], 1, -0.125f, -1, -2);
  EXPECT_EQ(cascade.leaves, (std::vector<float>{0.75f, -0.75f, 0.5f}));
  ASSERT_EQ(cascade.haar.size(), 2u);
  EXPECT_FALSE(cascade.haar[0].tilted);
  EXPECT_TRUE(cascade.haar[1].tilted);
  expect_part(cascade.haar[1].parts[0], {5, 1, 4, 3}, -1);
  EXPECT_EQ(cascade.stages[0].threshold, -1 - 1e-5f);
}

void expect_same_nodes(const Cascade& read, const Cascade& made) {
  ASSERT_EQ(read.nodes.size(), made.nodes.size());
  for (std::size_t i = 0; i < made.nodes.size(); ++i) {
    const Node& node = made.nodes[i];
    const bool haar = made.kind == FeatureKind::haar;
    expect_node(read.nodes[i], node.feature, haar ? node.threshold : 0, node.left, node.right);
    EXPECT_TRUE(haar || read.nodes[i].subset == node.subset);
  }
}

void expect_same_features(const Cascade& read, const Cascade& made) {
  ASSERT_EQ(read.haar.size(), made.haar.size());
  for (std::size_t i = 0; i < made.haar.size(); ++i) {
    EXPECT_EQ(read.haar[i].tilted, made.haar[i].tilted);
    for (std::size_t k = 0; k < 3; ++k)
      expect_part(read.haar[i].parts[k], made.haar[i].parts[k].rect, made.haar[i].parts[k].weight);
  }
  ASSERT_EQ(read.lbp.size(), made.lbp.size());
  for (std::size_t i = 0; i < made.lbp.size(); ++i) EXPECT_EQ(read.lbp[i].block, made.lbp[i].block);
}

void expect_same(const Cascade& read, const Cascade& made) {
  expect_sound(read);
  EXPECT_EQ(read.kind, made.kind);
  EXPECT_EQ(read.window, made.window);
  EXPECT_EQ(read.leaves, made.leaves);
  ASSERT_EQ(read.stages.size(), made.stages.size());
  for (std::size_t i = 0; i < made.stages.size(); ++i)
    EXPECT_EQ(read.stages[i].threshold, made.stages[i].threshold);
  expect_same_nodes(read, made);
  expect_same_features(read, made);
}

// Subtracting in f64 and then rounding to f32 would give a different number.
TEST(CascadeParser, SubtractsTheMarginInF32) {
  const Cascade cascade = parsed(replaced(stump_cascade(), ">-0.5<", ">1.5625e-05<"));
  EXPECT_EQ(cascade.stages[0].threshold, 0x1.797cc8p-18f);
}

class RandomCascade : public ::testing::TestWithParam<CascadeShape> {};

TEST_P(RandomCascade, IsReadAsItWasWritten) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Cascade made = random_cascade(seed, GetParam());
    expect_same(parsed(to_xml(made)), made);
  }
}

TEST(CascadeParser, EveryFileOfOpenCvIsReadAsItWasWritten) {
  for (const std::filesystem::path& file : opencv_cascade_files()) {
    SCOPED_TRACE(file.string());
    const Cascade made = load_cascade(file);
    expect_same(parsed(to_xml(made)), made);
  }
}

INSTANTIATE_TEST_SUITE_P(CascadeParser, RandomCascade,
                         ::testing::Values(CascadeShape{.tilted = true},
                                           CascadeShape{.tilted = true, .max_nodes = 5},
                                           CascadeShape{.kind = FeatureKind::lbp, .max_nodes = 3}));

// A little more than 1 + 2^-24: as f64 it is exactly halfway between two f32 numbers and rounds to
// the even one, 1. Rounded directly to f32, it would go up.
TEST(CascadeParser, RoundsNumbersTwice) {
  const Cascade cascade =
      parsed(replaced(stump_cascade(), "0.75 -0.75", "1.0000000596046447753906251 -0.75"));
  EXPECT_EQ(cascade.leaves[0], 1.0f);
}

TEST(CascadeParser, TakesWhiteSpaceAndCommentsBetweenElements) {
  std::string xml = stump_cascade();
  xml = replaced(xml, "0 0 6 4 -1.", "\n   0\t0 \r\n 6 4\n -1. ");
  xml = replaced(xml, "<features>", "<!-- <stages> --><features><!-- -->");
  xml = replaced(xml, "<cascade>", "<!-- a model --><cascade>");
  expect_part(parsed(xml).haar[0].parts[0], {0, 0, 6, 4}, -1);
}

TEST(CascadeParser, TakesFeaturesThatTouchEveryEdge) {
  std::string xml = stump_cascade();
  xml = replaced(xml, "0 0 6 4 -1.", "0 0 12 10 -1.");
  xml = replaced(xml, "5 1 4 3 -1.", "3 0 9 1 -1.");  // right 12, bottom 10
  xml = replaced(xml, "5 1 2 3 2.", "3 0 1 3 2.");    // left 0
  EXPECT_EQ(parsed(xml).haar[2].parts[0].rect, (Rect{3, 0, 9, 1}));
  EXPECT_EQ(parsed(replaced(lbp_cascade(), "3 4 2 1", "0 1 4 3")).lbp[1].block, (Rect{0, 1, 4, 3}));
}

// The nodes and leaves of a tree of `count` nodes. The children of each are a leaf and the next
// node; `rest` is the rest of each node's numbers.
std::string chain(int count, const std::string& rest) {
  std::string nodes, leaves = "0";
  for (int i = 0; i < count; ++i) {
    nodes += std::to_string(-i) + " " + std::to_string(i + 1 < count ? i + 1 : -count) + rest;
    leaves += " 0";
  }
  return "<internalNodes>" + nodes + "</internalNodes><leafValues>" + leaves + "</leafValues>";
}

TEST(CascadeParser, TakesTreesOfMaximumSize) {
  const std::string haar =
      replaced(tree_cascade(), "<internalNodes>1 0 0 0.25 -1 -2 1 -0.125</internalNodes>\n",
               chain(max_tree_nodes, " 0 0.25 "));
  const std::string lbp =
      replaced(lbp_cascade(), "<internalNodes>0 -1 1 8 7 6 5 4 3 2 1</internalNodes>",
               chain(max_tree_nodes, " 0 8 7 6 5 4 3 2 1 "));
  for (const std::string& xml : {replaced(haar, "<leafValues>0.75 -0.75 0.5</leafValues>", ""),
                                 replaced(lbp, "<leafValues>-0.25 0.25</leafValues>", "")}) {
    const Cascade cascade = parsed(xml);
    expect_sound(cascade);
    const Tree& tree = cascade.trees[cascade.kind == FeatureKind::lbp ? 1 : 0];
    EXPECT_EQ(tree.node_count, max_tree_nodes);
    EXPECT_EQ(cascade.nodes[tree.first_node + max_tree_nodes - 1].right, -max_tree_nodes);
  }
  std::string old_node =
      "<_><feature><rects><_>0 0 6 4 -1.</_></rects></feature>"
      "<threshold>0</threshold><left_val>0</left_val>";
  std::string old;
  for (int i = 1; i < max_tree_nodes; ++i)
    old += old_node + "<right_node>" + std::to_string(i) + "</right_node></_>";
  old += old_node + "<right_val>0</right_val></_>";
  const Cascade cascade = parsed(replaced(old_cascade(), "<stages>\n    <_>\n      <trees>\n",
                                          "<stages><_><trees><_>" + old + "</_>"));
  expect_sound(cascade);
  EXPECT_EQ(cascade.trees[0].node_count, max_tree_nodes);
}

TEST(CascadeParser, IgnoresUnknownElements) {
  std::string nested;
  for (int i = 0; i < 900; ++i) nested += "<a>";
  for (int i = 0; i < 900; ++i) nested += "</a>";
  EXPECT_EQ(parsed(replaced(stump_cascade(), "<features>", nested + "<features>")).haar.size(), 3u);
}

// ---- what OpenCV does not look at ---------------------------------------------------------------

TEST(CascadeParser, TakesTheFormatFromTheContents) {
  const std::string old = old_cascade(), stumps = stump_cascade();
  for (const char* name : {"<cascade>", "<c>", "<cascade type_id=\"opencv-cascade-classifier\">"}) {
    const std::string end =
        "</" + std::string(name).substr(1, std::string(name).find_first_of(" >") - 1) + ">";
    expect_same(parsed(replaced(replaced(old, "<plate type_id=\"opencv-haar-classifier\">", name),
                                "</plate>", end)),
                parsed(old));
  }
  expect_same(parsed(replaced(stumps, "<cascade>", "<cascade type_id=\"opencv-haar-classifier\">")),
              parsed(stumps));
  // With the elements of both formats, it is the new one; without a part of that, the old one.
  const std::size_t begin = old.find("<size>"), end = old.find("</plate>");
  const std::string trees = old.substr(begin, end - begin);
  const std::string both = replaced(stumps, "<stageType>", trees + "<stageType>");
  EXPECT_EQ(parsed(replaced(stumps, "<stageType>", "<size>8 8</size><stageType>")).window,
            (Size{12, 10}));
  expect_same(parsed(replaced(both, ">BOOST<", ">OTHER<")), parsed(old));
}

struct Warned {
  const char *name, *from, *to, *words;
  friend void PrintTo(const Warned& one, std::ostream* out) { *out << one.name; }
};
class WarnedCascade : public ::testing::TestWithParam<Warned> {};

TEST_P(WarnedCascade, IsReadAndWarnedOf) {
  const Warned& change = GetParam();
  const Cascade cascade = parsed(replaced(stump_cascade(), change.from, change.to));
  expect_sound(cascade);
  ASSERT_EQ(cascade.warnings.size(), 1u);
  EXPECT_EQ(cascade.warnings[0].find("test.xml, line "), 0u);
  EXPECT_TRUE(has(cascade.warnings[0], change.words));
}

INSTANTIATE_TEST_SUITE_P(
    CascadeParser, WarnedCascade,
    ::testing::Values(
        Warned{"TooFewStages", "<stageNum>2", "<stageNum>3",
               "<stageNum>: the file says \"3\", but there are 2"},
        Warned{"StagesByAWord", "<stageNum>2", "<stageNum>two", "the file says \"two\""},
        Warned{"TooManyTrees", "<maxWeakCount>1<", "<maxWeakCount>1e9<",
               "<maxWeakCount>: the file says \"1e9\", but there are 1"},
        Warned{"LongInteger", "0 -1 1 -0.125", "0 -1 4294967297 -0.125",
               "4294967297 does not fit into 32 bits; OpenCV takes it as 1"},
        Warned{"NoThreshold", "<stageThreshold>0.25</stageThreshold>", "",
               "<stageThreshold> is missing and counts as 0"},
        Warned{"NoWeight", "3 0 3 4 2.", "3 0 3 4", "expected x y width height weight, found 4"},
        Warned{"MoreThanAWeight", "3 0 3 4 2.", "3 0 3 4 2. 1", "found 6 numbers"},
        Warned{"NoRectangles", "<_>0 0 6 4 -1.</_>\n        <_>3 0 3 4 2.</_>", "",
               "a feature without rectangles is always 0"}),
    ::testing::PrintToStringParamName());

TEST(CascadeParser, WarnsOfNothingElse) {
  for (const std::string& xml : {stump_cascade(), tree_cascade(), lbp_cascade(), old_cascade(),
                                 replaced(stump_cascade(), "maxCatCount>0</maxCatCount", "a>0</a"),
                                 replaced(lbp_cascade(), "2147483647", "4294967295")})
    EXPECT_EQ(parsed(xml).warnings, std::vector<std::string>());
}

TEST(CascadeParser, WarnsAFewTimes) {
  std::string xml = stump_cascade(), rects = "<rects></rects>";
  for (int i = 0; i < 100; ++i) xml = replaced(xml, "<features>", "<features><_>" + rects + "</_>");
  const Cascade cascade = parsed(xml);
  ASSERT_EQ(cascade.warnings.size(), 11u);
  EXPECT_EQ(cascade.warnings.back(), "test.xml: there is more of this kind");
}

// Its sum is 0.
TEST(CascadeParser, TakesStagesWithoutTrees) {
  std::string xml = stump_cascade();
  const std::size_t begin = xml.rfind("<weakClassifiers>") + 17,
                    end = xml.rfind("</weakClassifiers>");
  const Cascade cascade = parsed(xml.erase(begin, end - begin));
  expect_sound(cascade);
  EXPECT_EQ(cascade.stages[1].tree_count, 1);
  EXPECT_EQ(cascade.leaves, (std::vector<float>{0.75f, -0.75f, -0.5f, 0.5f, 0, 0}));
  EXPECT_TRUE(cascade.is_stumps());
}

TEST(CascadeParser, TakesLargeWindows) {
  const auto of = [](std::string xml, int width, int height) {
    xml = replaced(xml, "<width>12", "<width>" + std::to_string(width));
    return parsed(replaced(xml, "<height>10", "<height>" + std::to_string(height))).window;
  };
  EXPECT_EQ(of(lbp_cascade(), 4104, 4104), (Size{4104, 4104}));
  EXPECT_EQ(of(lbp_cascade(), 1'000'000, 16), (Size{1'000'000, 16}));
  EXPECT_EQ(of(stump_cascade(), 258, 258), (Size{258, 258}));
  EXPECT_EQ(of(stump_cascade(), 5000, 15), (Size{5000, 15}));
}

// ---- formats ------------------------------------------------------------------------------------

std::string crlf(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? "\r\n" : std::string(1, c);
  return result;
}

TEST(CascadeParser, ReadsYamlAndJson) {
  const Cascade xml = parsed(stump_cascade());
  for (const std::string& text : {yaml_cascade(), json_cascade()}) {
    expect_same(parsed(text), xml);
    expect_same(parsed(crlf(text)), xml);
    expect_same(parsed("\xEF\xBB\xBF" + text), xml);
    EXPECT_EQ(parsed(text).warnings, std::vector<std::string>());
  }
}

void expect_refused(const std::string& bytes, const std::string& words) {
  EXPECT_TRUE(has(message_of<CascadeError>([&] { parsed(bytes); }), words));
}

TEST(CascadeParser, ReadsCompressedFiles) {
  const std::string xml = stump_cascade();
  const Cascade cascade = parsed(xml);
  for (const std::string& text : {xml, yaml_cascade(), json_cascade()})
    expect_same(parsed(gzip(text)), cascade);
  const std::size_t half = xml.size() / 2;
  expect_same(parsed(gzip(xml.substr(0, half)) + gzip(xml.substr(half)) + "padding"), cascade);
}

TEST(CascadeParser, RefusesDamagedCompressedFiles) {
  const std::string whole = gzip(stump_cascade()), damaged = "this compressed file is damaged";
  for (const std::size_t length : {std::size_t{2}, whole.size() / 2, whole.size() - 1})
    expect_refused(whole.substr(0, length), damaged);
  std::string other = whole;
  other[other.size() - 6] ^= 1;  // the checksum
  expect_refused(other, damaged);
  expect_refused(gzip(gzip(stump_cascade())), "expected a text that begins with");
}

TEST(CascadeParser, RefusesCompressedFilesThatAreLarge) {
  std::string text = stump_cascade();
  text.resize(max_cascade_bytes, ' ');
  EXPECT_EQ(parsed(gzip(text)).stages.size(), 2u);
  expect_refused(gzip(text + " "), "the uncompressed file is larger than 16 MiB");
  expect_refused(gzip(std::string(400 << 20, ' ')), "the uncompressed file is larger than 16 MiB");
}

}  // namespace
}  // namespace facesat::test

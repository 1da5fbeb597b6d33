#include "tests/kit/cascades.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

namespace facesat::test {
namespace {

using Random = std::mt19937;

// A random number from low .. high, both included.
int between(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

Rect random_rect(Random& random, Size window) {
  const int x = between(random, 0, window.width - 1), y = between(random, 0, window.height - 1);
  return {x, y, between(random, 1, window.width - x), between(random, 1, window.height - y)};
}

// A tilted rectangle (see HaarFeature) inside a window of W x H pixels: x >= height, x + width <=
// W, y + width + height <= H.
Rect random_tilted_rect(Random& random, Size window) {
  const int x = between(random, 1, window.width - 1);
  const int width = between(random, 1, std::min(window.width - x, window.height - 1));
  const int height = between(random, 1, std::min(x, window.height - width));
  return {x, between(random, 0, window.height - width - height), width, height};
}

// For CascadeShape::empty.
void empty_some(Random& random, Rect& r) {
  const int which = between(random, 0, 3);
  if (which == 0) r.width = 0;
  if (which == 1) r.height = 0;
}

// The weights balance the areas of the parts, as in trained cascades: in a uniform window the
// feature is 0.
HaarFeature random_haar(Random& random, Size window, bool tilted, bool empty) {
  HaarFeature feature;
  feature.tilted = tilted;
  const int parts = between(random, 2, 3);
  const auto area = [](const Rect& r) {
    return static_cast<float>(std::max(r.width * r.height, 1));
  };
  for (int i = 0; i < parts; ++i) {
    Rect r = tilted ? random_tilted_rect(random, window) : random_rect(random, window);
    if (empty) empty_some(random, r);
    const float balance = area(feature.parts[0].rect) / area(r) / static_cast<float>(parts - 1);
    feature.parts[i] = {r, i == 0 ? -1 : balance};
  }
  return feature;
}

LbpFeature random_lbp(Random& random, Size window, bool empty) {
  const int width = between(random, 1, window.width / 3);
  const int height = between(random, 1, window.height / 3);
  LbpFeature feature{{between(random, 0, window.width - 3 * width),
                      between(random, 0, window.height - 3 * height), width, height}};
  if (empty) empty_some(random, feature.block);
  return feature;
}

// Left and right child of each node: node i > 0 becomes a random free child of an earlier node; the
// remaining children are leaves.
std::vector<std::pair<int, int>> random_children(Random& random, int node_count) {
  std::vector<std::pair<int, int>> children(node_count);
  std::vector<int*> free{&children[0].first, &children[0].second};
  for (int node = 1; node < node_count; ++node) {
    const auto place = free.begin() + between(random, 0, static_cast<int>(free.size()) - 1);
    **place = node;
    free.erase(place);
    free.insert(free.end(), {&children[node].first, &children[node].second});
  }
  std::shuffle(free.begin(), free.end(), random);
  for (std::size_t leaf = 0; leaf < free.size(); ++leaf) *free[leaf] = -static_cast<int>(leaf);
  return children;
}

void add_random_tree(Random& random, Cascade& cascade, const CascadeShape& shape) {
  const int node_count = between(random, 1, shape.max_nodes);
  cascade.trees.push_back({static_cast<int>(cascade.nodes.size()), node_count,
                           static_cast<int>(cascade.leaves.size())});
  auto children = random_children(random, node_count);
  if (shape.max_nodes == 1) children[0] = {0, -1};  // as the parser stores stumps
  for (const auto& [left, right] : children) {
    Node node{static_cast<int>(cascade.feature_count()), 0, {}, left, right};
    node.threshold = static_cast<float>(between(random, -100, 100)) / 1000.0f;
    for (std::uint32_t& word : node.subset) word = static_cast<std::uint32_t>(random());
    cascade.nodes.push_back(node);
    switch (shape.kind) {
      case FeatureKind::haar:
        cascade.haar.push_back(random_haar(
            random, cascade.window, shape.tilted && cascade.haar.size() % 2 == 1, shape.empty));
        break;
      case FeatureKind::lbp:
        cascade.lbp.push_back(random_lbp(random, cascade.window, shape.empty));
        break;
    }
  }
  for (int i = 0; i <= node_count; ++i)
    cascade.leaves.push_back(static_cast<float>(between(random, -7, 8)) / 8.0f);
}

}  // namespace

std::string stump_cascade() {
  return R"(<?xml version="1.0"?>
<opencv_storage>
<cascade>
  <stageType>BOOST</stageType>
  <featureType>HAAR</featureType>
  <height>10</height>
  <width>12</width>
  <stageParams><maxWeakCount>2</maxWeakCount></stageParams>
  <featureParams>
    <maxCatCount>0</maxCatCount></featureParams>
  <stageNum>2</stageNum>
  <stages>
    <_>
      <maxWeakCount>2</maxWeakCount>
      <stageThreshold>-0.5</stageThreshold>
      <weakClassifiers>
        <_>
          <internalNodes>0 -1 0 0.25</internalNodes>
          <leafValues>0.75 -0.75</leafValues></_>
        <_>
          <internalNodes>0 -1 1 -0.125</internalNodes>
          <leafValues>-0.5 0.5</leafValues></_></weakClassifiers></_>
    <_>
      <maxWeakCount>1</maxWeakCount>
      <stageThreshold>0.25</stageThreshold>
      <weakClassifiers>
        <_>
          <internalNodes>0 -1 2 0.0625</internalNodes>
          <leafValues>1 -1</leafValues></_></weakClassifiers></_></stages>
  <features>
    <_>
      <rects>
        <_>0 0 6 4 -1.</_>
        <_>3 0 3 4 2.</_></rects>
      <tilted>0</tilted></_>
    <_>
      <rects>
        <_>1 2 9 6 -1.</_>
        <_>4 2 3 6 2.</_>
        <_>1 4 9 2 0.5</_></rects></_>
    <_>
      <rects>
        <_>5 1 4 3 -1.</_>
        <_>5 1 2 3 2.</_></rects>
      <tilted>1</tilted></_></features></cascade>
</opencv_storage>
)";
}

std::string tree_cascade() {
  return R"(<?xml version="1.0"?>
<opencv_storage>
<cascade type_id="opencv-cascade-classifier">
  <stageType>BOOST</stageType>
  <featureType>HAAR</featureType>
  <height>10</height>
  <width>12</width>
  <featureParams>
    <maxCatCount>0</maxCatCount></featureParams>
  <stages>
    <_>
      <maxWeakCount>2</maxWeakCount>
      <stageThreshold>-1</stageThreshold>
      <weakClassifiers>
        <_>
          <internalNodes>1 0 0 0.25 -1 -2 1 -0.125</internalNodes>
          <leafValues>0.75 -0.75 0.5</leafValues></_>
        <_>
          <internalNodes>-1 0 0 0.5</internalNodes>
          <leafValues>-0.25 0.25</leafValues></_></weakClassifiers></_></stages>
  <features>
    <_>
      <rects>
        <_>0 0 6 4 -1.</_>
        <_>3 0 3 4 2.</_></rects></_>
    <_>
      <rects>
        <_>1 2 9 6 -1.</_>
        <_>4 2 3 6 2.</_></rects></_></features></cascade>
</opencv_storage>
)";
}

std::string lbp_cascade() {
  return R"(<?xml version="1.0"?>
<opencv_storage>
<cascade>
  <stageType>BOOST</stageType>
  <featureType>LBP</featureType>
  <height>10</height>
  <width>12</width>
  <featureParams>
    <maxCatCount>256</maxCatCount></featureParams>
  <stageNum>1</stageNum>
  <stages>
    <_>
      <maxWeakCount>2</maxWeakCount>
      <stageThreshold>0</stageThreshold>
      <weakClassifiers>
        <_>
          <internalNodes>0 -1 0 -1 2147483647 -2147483648 0 1 2 3 4</internalNodes>
          <leafValues>0.5 -0.5</leafValues></_>
        <_>
          <internalNodes>0 -1 1 8 7 6 5 4 3 2 1</internalNodes>
          <leafValues>-0.25 0.25</leafValues></_></weakClassifiers></_></stages>
  <features>
    <_>
      <rect>0 1 4 3</rect></_>
    <_>
      <rect>3 4 2 1</rect></_></features></cascade>
</opencv_storage>
)";
}

std::string old_cascade() {
  return R"(<?xml version="1.0"?>
<opencv_storage>
<plate type_id="opencv-haar-classifier">
  <size>12 10</size>
  <stages>
    <_>
      <trees>
        <_>
          <_>
            <feature>
              <rects>
                <_>0 0 6 4 -1.</_>
                <_>3 0 3 4 2.</_></rects>
              <tilted>0</tilted></feature>
            <threshold>0.25</threshold>
            <left_val>0.75</left_val>
            <right_node>1</right_node></_>
          <_>
            <feature>
              <rects>
                <_>5 1 4 3 -1.</_>
                <_>5 1 2 3 2.</_></rects>
              <tilted>1</tilted></feature>
            <threshold>-0.125</threshold>
            <left_val>-0.75</left_val>
            <right_val>0.5</right_val></_></_></trees>
      <stage_threshold>-1</stage_threshold>
      <parent>-1</parent>
      <next>-1</next></_></stages></plate>
</opencv_storage>
)";
}

std::string yaml_cascade() {
  return R"(%YAML:1.0
# a model
---
model: !<tag:yaml.org,2002:opencv-cascade-classifier>
   stageType: "BOOST"
   featureType: HAAR
   height: 10 # rows
   width: 0xC
   featureParams: { maxCatCount:0, 'name' : [ ] }
   stages:
      -
         maxWeakCount: 2
         stageThreshold: -.5
         weakClassifiers:
            - { internalNodes:[ 0, -1, 0,
                   0.25 ], leafValues: [ 0.75, -0.75 ] }
            -
               internalNodes: [ 0, -1, 1, -1.25e-1 ]
               leafValues:
                  - -0.5
                  - +0.5
      - stageThreshold: 0.25
        weakClassifiers: [ { internalNodes: [0,-1,2,0.0625], leafValues: [1,-1] } ]
   features:
      - rects:
           - [ 0, 0, 6, 4, -1. ]
           - [ 3, 0, 3, 4, 2. ]
        tilted: 0
      - { rects: [ [ 1, 2, 9, 6, -1. ], [ 4, 2, 3, 6, 2. ], [ 1, 4, 9, 2, 0.5 ] ] }
      -
         rects: [ [ 5, 1, 4, 3, -1. ], [ 5, 1, 2, 3, 2. ] ]
         tilted: 1
...
)";
}

std::string json_cascade() {
  return R"({ // a model
  "model": {
    "type_id": "opencv-cascade-classifier", , /* names
    may have commas around them */
    "stageType": "BOOST", "featureType": "HAAR",
    "height": 10, "width": 014,
    "featureParams": {},
    "stages": [
      { "stageThreshold": -.5, "weakClassifiers": [
          { "internalNodes": [ 0, -1, 0, 0.25 ], "leafValues": [ 0.75, -0.75, ] },
          { "internalNodes": [ 0, -1, 1, -1.25e-1 ], "leafValues": [ -0.5, +0.5 ] } ] },
      { "stageThreshold": 0.25, "weakClassifiers": [
          { "internalNodes": [ 0, -1, 2, 0.0625 ], "leafValues": [ 1., -1 ] } ] } ],
    "features": [
      { "rects": [ [ 0, 0, 6, 4, -1. ], [ 3, 0, 3, 4, 2.0 ] ], "tilted": false },
      { "rects": [ [ 1, 2, 9, 6, -1. ], [ 4, 2, 3, 6, 2. ], [ 1, 4, 9, 2, 0.5 ] ] },
      { "rects": [ [ 5, 1, 4, 3, -1. ], [ 5, 1, 2, 3, 2. ] ], "tilted": true }
    ]
  }
} and what follows)";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("the text has no \"" + from + "\"");
  return text.replace(at, from.size(), to);
}

std::vector<std::filesystem::path> opencv_cascade_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"/haarcascades", "/lbpcascades"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(FACESAT_CASCADE_DIR) + folder))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string gzip(const std::string& text) {
  z_stream z{};
  if (deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string bytes(deflateBound(&z, text.size()), '\0'), input = text;
  z.next_in = reinterpret_cast<Bytef*>(input.data());
  z.avail_in = static_cast<uInt>(input.size());
  z.next_out = reinterpret_cast<Bytef*>(bytes.data());
  z.avail_out = static_cast<uInt>(bytes.size());
  deflate(&z, Z_FINISH);
  bytes.resize(z.total_out);
  deflateEnd(&z);
  return bytes;
}

Cascade random_cascade(unsigned seed, const CascadeShape& shape) {
  Random random(seed);
  Cascade cascade;
  cascade.kind = shape.kind;
  cascade.window = {between(random, 8, 15), between(random, 8, 15)};
  for (int stage = between(random, 2, 5); stage > 0; --stage) {
    const int first_tree = static_cast<int>(cascade.trees.size());
    const int count = between(random, 1, 4) * shape.tree_factor;
    for (int i = 0; i < count; ++i) add_random_tree(random, cascade, shape);
    const float in_file = static_cast<float>(between(random, -5, 0)) / 8.0f;
    cascade.stages.push_back({first_tree, count, in_file - 1e-5f});
  }
  return cascade;
}

Cascade enlarged(Cascade cascade, int across, int down) {
  const auto enlarge = [&](Rect& r) {
    r = {r.x * across, r.y * down, r.width * across, r.height * down};
  };
  cascade.window = {cascade.window.width * across, cascade.window.height * down};
  for (HaarFeature& feature : cascade.haar)
    for (HaarFeature::Part& part : feature.parts) enlarge(part.rect);
  for (LbpFeature& feature : cascade.lbp) enlarge(feature.block);
  return cascade;
}

Cascade half_cascade(Size window, float left, float right, float threshold) {
  const int half = window.width / 2;
  HaarFeature feature;
  feature.parts[0] = {{0, 0, half, window.height}, 1};
  feature.parts[1] = {{half, 0, half, window.height}, -1};
  Cascade cascade;
  cascade.window = window;
  cascade.stages = {{0, 1, threshold}};
  cascade.trees = {{0, 1, 0}};
  cascade.nodes = {{0, 0, {}, 0, -1}};
  cascade.leaves = {left, right};
  cascade.haar = {feature};
  return cascade;
}

}  // namespace facesat::test

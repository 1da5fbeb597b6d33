#include "datasets/training_folder.hpp"

#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view beginning = "{\"facesat_training\":";

[[noreturn]] void refuse(const fs::path& file) {
  throw UsageError(
      fmt::format("{}: the file is damaged; --restart begins the training anew", file.string()));
}

// Takes values from the bytes of a file.
class Reader {
 public:
  Reader(const fs::path& file, std::string_view bytes) : file_(file), bytes_(bytes) {}
  Samples samples(Size window, std::size_t count) {
    if (window.width <= 0 || window.height <= 0) refuse(file_);
    const std::string_view pixels = take(count, window.area());
    Samples samples{.window = window, .pixels = {}};
    samples.pixels.assign(pixels.begin(), pixels.end());
    return samples;
  }
  std::vector<std::uint64_t> numbers(std::size_t count) {
    const std::string_view bytes = take(count, sizeof(std::uint64_t));
    std::vector<std::uint64_t> numbers(count);
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  bool is_at_end() const { return bytes_.empty(); }

 private:
  std::string_view take(std::size_t count, std::size_t size_of_each) {
    if (count > bytes_.size() / size_of_each) refuse(file_);
    const std::string_view taken = bytes_.substr(0, count * size_of_each);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  const fs::path& file_;
  std::string_view bytes_;
};

std::string_view bytes_of(const Samples& samples) {
  return as_text({samples.pixels.data(), samples.pixels.size()});
}

Json node_json(const Node& node, bool has_subset) {
  Json json{node.left, node.right, node.feature};
  if (has_subset)
    for (const std::uint32_t word : node.subset) json.push_back(word);
  else
    json.push_back(node.threshold);  // an f64 that equals the f32
  return json;
}

Node node_of(const Json& json, bool has_subset) {
  Node node{.feature = json.at(2), .subset = {}, .left = json.at(0), .right = json.at(1)};
  if (has_subset)
    for (std::size_t k = 0; k < node.subset.size(); ++k) node.subset[k] = json.at(3 + k);
  else
    node.threshold = json.at(3);
  return node;
}

// Whether the nodes test features that there are, and each leads to later ones or to leaves.
bool is_sound(const TrainedTree& tree, std::size_t features) {
  const auto nodes = std::ssize(tree.nodes);
  if (nodes == 0 || std::ssize(tree.leaves) != nodes + 1) return false;
  for (std::ptrdiff_t i = 0; i < nodes; ++i) {
    const Node& node = tree.nodes[i];
    if (node.feature < 0 || static_cast<std::size_t>(node.feature) >= features) return false;
    for (const std::ptrdiff_t child : {node.left, node.right})
      if (child > 0 ? child <= i || child >= nodes : -child > nodes) return false;
  }
  return true;
}

}  // namespace

TrainingFolder::TrainingFolder(const fs::path& folder, fs::path output, std::string comment)
    : samples_(folder / "stage.samples"),
      trees_(folder / "trees.jsonl"),
      output_(std::move(output)),
      comment_(std::move(comment)) {
  make_folder(folder);
  require_own_file(samples_, {beginning});
  require_own_file(trees_, {"{\"stage\":"});
}

std::optional<StageState> TrainingFolder::state(Size of_cascade, int stages) const {
  if (!has_contents(samples_)) return std::nullopt;
  const std::vector<unsigned char> bytes = read_file(samples_);
  const std::string_view text = as_text(bytes);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) refuse(samples_);
  try {
    const Json json = Json::parse(text.substr(0, end));
    if (json.at("facesat_training") != 1) refuse(samples_);
    const Size window{json.at("window").at(0), json.at("window").at(1)};
    Reader reader(samples_, text.substr(end + 1));
    StageState state{.stage = json.at("stage"),
                     .positives = json.at("positives"),
                     .acceptance = json.at("acceptance"),
                     .kept = json.at("kept"),
                     .negatives = reader.samples(window, json.at("negatives")),
                     .held_out_negatives = reader.samples(window, json.at("held_out")),
                     .mine = {.next_picture = json.at("next_picture"),
                              .taken = reader.numbers(json.at("taken")),
                              .pool = json.at("pool")}};
    if (!reader.is_at_end()) refuse(samples_);
    if (window != of_cascade || state.stage > stages || state.stage < stages - 1)
      throw UsageError(
          fmt::format("{}: the stages that it has are not those of the training that was ended; "
                      "--restart begins anew",
                      output_.string()));
    return state;
  } catch (const Json::exception&) {
    refuse(samples_);
  }
}

void TrainingFolder::keep(const StageState& state) {
  const Size window = state.negatives.window;
  const Json json{{"facesat_training", 1},
                  {"stage", state.stage},
                  {"window", {window.width, window.height}},
                  {"positives", state.positives},
                  {"acceptance", state.acceptance},
                  {"kept", state.kept},
                  {"negatives", state.negatives.count()},
                  {"held_out", state.held_out_negatives.count()},
                  {"next_picture", state.mine.next_picture},
                  {"taken", state.mine.taken.size()},
                  {"pool", state.mine.pool}};
  std::string bytes = json.dump() + '\n';
  bytes += bytes_of(state.negatives);
  bytes += bytes_of(state.held_out_negatives);
  bytes.append(reinterpret_cast<const char*>(state.mine.taken.data()),
               state.mine.taken.size() * sizeof(std::uint64_t));
  replace_file(samples_, bytes);
}

std::vector<TrainedTree> TrainingFolder::trees(int stage, const FeaturePool& pool) const {
  const bool has_subset = traits_of(pool.kind).subset_words > 0;
  std::vector<TrainedTree> trees;
  std::string complete;  // lines
  std::ifstream file(trees_);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    try {
      const Json json = Json::parse(line);
      complete += line + '\n';
      if (json.at("stage") != stage) continue;
      TrainedTree tree;
      for (const Json& node : json.at("nodes")) tree.nodes.push_back(node_of(node, has_subset));
      for (const Json& leaf : json.at("leaves")) tree.leaves.push_back(leaf);
      if (!is_sound(tree, pool.count())) refuse(trees_);
      trees.push_back(std::move(tree));
    } catch (const Json::exception&) {
      refuse(trees_);
    }
  }
  file.close();
  if (has_contents(trees_)) replace_file(trees_, complete);  // without a line that was cut off
  return trees;
}

void TrainingFolder::keep(int stage, const TrainedTree& tree) {
  Json json{{"stage", stage}, {"nodes", Json::array()}, {"leaves", tree.leaves}};
  for (const Node& node : tree.nodes)
    json["nodes"].push_back(node_json(node, node.subset != decltype(node.subset){}));
  std::ofstream file(trees_, std::ios::app);
  file << json.dump() + '\n';
  if (!file.flush()) throw OutputError(fmt::format("{}: cannot be written", trees_.string()));
}

void TrainingFolder::keep(const Cascade& cascade) {
  replace_file(output_, to_xml(cascade, comment_));
}

void replace_file(const fs::path& file, std::string_view bytes) {
  const fs::path next = file.string() + ".new";
  write_text(next, bytes);
  std::error_code error;
  fs::rename(next, file, error);
  if (error) throw OutputError(fmt::format("{}: {}", file.string(), error.message()));
}

}  // namespace facesat::training

// Writes the seed corpus for fuzzing: facesat_cascade_seeds CORPUS CASCADES.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/kit/cascades.hpp"
#include "tests/kit/gzip.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t max_bytes = 64 << 10;  // larger files are mutated too slowly

void write_handwritten(const fs::path& corpus) {
  std::ofstream(corpus / "stumps.xml") << facesat::test::stump_cascade();
  std::ofstream(corpus / "trees.xml") << facesat::test::tree_cascade();
  std::ofstream(corpus / "lbp.xml") << facesat::test::lbp_cascade();
  std::ofstream(corpus / "old.xml") << facesat::test::old_cascade();
  std::ofstream(corpus / "stumps.yml") << facesat::test::yaml_cascade();
  std::ofstream(corpus / "stumps.json") << facesat::test::json_cascade();
  std::ofstream(corpus / "stumps.yml.gz", std::ios::binary)
      << facesat::test::gzip(facesat::test::yaml_cascade());
}

void write_random(const fs::path& corpus) {
  using namespace facesat;
  using namespace facesat::test;
  // The kind of features, whether some are tilted, the nodes per tree.
  const CascadeShape shapes[] = {{FeatureKind::haar, true, 1},
                                 {FeatureKind::haar, true, 4},
                                 {FeatureKind::lbp, false, 1},
                                 {FeatureKind::lbp, false, 4}};
  for (unsigned seed = 0; seed < 16; ++seed)
    std::ofstream(corpus / ("random-" + std::to_string(seed) + ".xml"))
        << to_xml(random_cascade(seed, shapes[seed % 4]));
}

void copy_small(const fs::path& cascades, const fs::path& corpus) {
  for (const auto& entry : fs::recursive_directory_iterator(cascades))
    if (entry.path().extension() == ".xml" && entry.file_size() <= max_bytes)
      fs::copy_file(entry.path(), corpus / entry.path().filename(),
                    fs::copy_options::overwrite_existing);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: facesat_cascade_seeds CORPUS CASCADES\n";
    return 2;
  }
  try {
    fs::create_directories(arguments[1]);
    write_handwritten(arguments[1]);
    write_random(arguments[1]);
    copy_small(arguments[2], arguments[1]);
  } catch (const std::exception& error) {
    std::cerr << "facesat_cascade_seeds: " << error.what() << "\n";
    return 1;
  }
}

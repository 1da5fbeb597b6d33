// facesat samples: what a cascade is trained to find, cut out of pictures.
#pragma once

#include <string>
#include <vector>

#include "datasets/positives.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

struct SamplesCommand {
  std::vector<std::string> inputs;
  std::string output;
  training::PositiveOptions positives;
  int jobs = 0;  // 0: all cores
  bool quiet = false;
};

CLI::App* add_samples(CLI::App& program, SamplesCommand& command);

// Returns the exit status: 1 if some inputs were refused, else 0. Throws UsageError, OutputError.
int run_samples(const SamplesCommand& command);

// A picture of all samples in rows, or of as many as fit into one that programs can show.
Image<Bgr> sheet_of(const training::Samples& samples);

// The options of which objects become samples, and how, for all commands that read them. What the
// parser does not check itself throws CLI::ValidationError.
void add_sample_options(CLI::App& command, training::PositiveOptions& options);
void check_sample_options(const training::PositiveOptions& options);

}  // namespace facesat::app

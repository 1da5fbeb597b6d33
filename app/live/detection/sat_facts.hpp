// What the window says about each SAT (summed area table) algorithm, whether it can run here or
// not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/sat/algorithm.hpp"

namespace facesat::app {

struct SatFacts {
  std::string id, title, paper;
  std::string authors;           // and the year
  double reads = 0, writes = 0;  // per element of each table
  std::string runs_as;           // how many launches on the GPU, or how many threads
};

SatFacts facts_of(const gpu::SatAlgorithm& sat);
std::vector<SatFacts> facts_of(std::span<const gpu::SatAlgorithm* const> sats);

// The CPU's own algorithms: those of app/common/cpu_sats.hpp, and what the CPU backend uses.
std::vector<SatFacts> cpu_sat_facts();

std::vector<std::string> ids_of(const std::vector<SatFacts>& facts);

std::string traffic_text(const SatFacts& facts);  // "2 reads and 1 write per element"

// Everything above as a few lines of text.
std::string explanation_of(const SatFacts& facts);

}  // namespace facesat::app

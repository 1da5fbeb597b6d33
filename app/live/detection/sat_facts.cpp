#include "app/live/detection/sat_facts.hpp"

#include <fmt/format.h>

#include "app/common/cpu_sats.hpp"

namespace facesat::app {
namespace {

// A citation begins with its authors and a colon; other sources have no authors to name.
std::string authors_of(const std::string& paper, int year) {
  const std::size_t end = paper.find(':');
  return end == paper.npos ? paper : fmt::format("{} {}", paper.substr(0, end), year);
}

}  // namespace

SatFacts facts_of(const gpu::SatAlgorithm& sat) {
  SatFacts facts{.id = std::string(sat.id),
                 .title = std::string(sat.title),
                 .paper = std::string(sat.paper),
                 .authors = {},
                 .reads = sat.reads,
                 .writes = sat.writes,
                 .runs_as = sat.launches > 0 ? fmt::format("launches: {}", sat.launches)
                                             : "one launch per anti-diagonal"};
  facts.authors = authors_of(facts.paper, sat.year);
  return facts;
}

std::vector<SatFacts> facts_of(std::span<const gpu::SatAlgorithm* const> sats) {
  std::vector<SatFacts> facts;
  for (const gpu::SatAlgorithm* sat : sats) facts.push_back(facts_of(*sat));
  return facts;
}

std::vector<SatFacts> cpu_sat_facts() {
  const std::string kasagi =
      "Kasagi, Nakano, Ito: Parallel Algorithms for the Summed Area Table on the Asynchronous "
      "Hierarchical Memory Machine, with GPU implementations, ICPP 2014";
  const std::string authors = authors_of(kasagi, 2014);
  return {
      {id_2r2w, "Sums down the columns, then along the rows (2R2W)", kasagi, authors, 2, 2,
       "one thread"},
      {id_4r1w, "Each element from its pixel and three neighbours (4R1W)", kasagi, authors, 4, 1,
       "one thread"},
      {id_backend, "Prefix sums in vector registers, both tables from one read of the pixels",
       "what facesat itself uses on the CPU", "facesat", 1, 1, "one thread"},
  };
}

std::vector<std::string> ids_of(const std::vector<SatFacts>& facts) {
  std::vector<std::string> ids;
  for (const SatFacts& one : facts) ids.push_back(one.id);
  return ids;
}

std::string traffic_text(const SatFacts& facts) {
  return fmt::format("{:g} read{} and {:g} write{} per element", facts.reads,
                     facts.reads == 1 ? "" : "s", facts.writes, facts.writes == 1 ? "" : "s");
}

std::string explanation_of(const SatFacts& facts) {
  return fmt::format("{}\n{}\n{}; {}", facts.title, facts.paper, traffic_text(facts),
                     facts.runs_as);
}

}  // namespace facesat::app

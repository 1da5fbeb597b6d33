// Evaluates a cascade at single windows, exactly as the detector does.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boosting/samples.hpp"
#include "core/cascade.hpp"
#include "core/image.hpp"
#include "core/stop.hpp"

namespace facesat::training {

struct Judgement {
  int stages_passed = 0;  // -1: a low-variance window, which is rejected before the first stage
  double score = 0;       // the sum of the last stage that was evaluated
};

// A cascade compiled for pictures of its window's size. It keeps no reference to the cascade.
class Judge {
 public:
  explicit Judge(const Cascade& cascade);
  ~Judge();

  // The result for a picture of the window's size. May be called by any number of threads.
  Judgement operator()(View<const std::uint8_t> picture) const;

  int stage_count() const;
  bool passes(const Judgement& judgement) const { return judgement.stages_passed == stage_count(); }

 private:
  struct Compiled;
  template <class Test, class Normalisation>
  struct CompiledAs;
  std::unique_ptr<const Compiled> compiled_;
};

// The results for all samples, in their order; their window must be the cascade's. Sample i passes
// the first k stages if [i].stages_passed >= k. Throws Stopped.
std::vector<Judgement> judge(const Cascade& cascade, const Samples& samples,
                             const ShouldStop& should_stop = {});

}  // namespace facesat::training

#include "training/judge.hpp"

#include <stdexcept>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "core/cpu/evaluate.hpp"
#include "core/cpu/haar.hpp"
#include "core/cpu/lbp.hpp"
#include "core/cpu/tile.hpp"

namespace facesat::training {

// The window is a tile with one position.
struct Judge::Compiled {
  explicit Compiled(const cpu::TileShape& shape)
      : tables([shape] { return cpu::TileTables(shape); }) {}
  virtual ~Compiled() = default;
  virtual Judgement judge(const cpu::Tile& tile) const = 0;
  virtual int stage_count() const = 0;

  mutable tbb::enumerable_thread_specific<cpu::TileTables> tables;
};

template <class Test, class Normalisation>
struct Judge::CompiledAs final : Compiled {
  cpu::Trees<Test> trees;
  Normalisation normalisation;

  CompiledAs(const Cascade& cascade, const cpu::TileShape& shape)
      : Compiled(shape),
        trees(cascade, shape.layout(1)),
        normalisation(cascade.window, shape.layout(1)) {}

  Judgement judge(const cpu::Tile& tile) const override {
    const std::uint32_t* const window = tile.window(0, 0);
    const float inverse = normalisation.inverse_deviation(window, tile.squares);
    if (inverse == 0) return {-1, 0};
    Judgement result;
    while (result.stages_passed < trees.stage_count()) {
      result.score = trees.sum(result.stages_passed, window, inverse);
      if (!(result.score >= trees.stages[result.stages_passed].threshold)) break;
      ++result.stages_passed;
    }
    return result;
  }
  int stage_count() const override { return trees.stage_count(); }
};

Judge::Judge(const Cascade& cascade) {
  const cpu::TileShape shape = cpu::tile_shape(cascade, cascade.window);
  switch (cascade.kind) {
    case FeatureKind::haar:
      compiled_ =
          std::make_unique<CompiledAs<cpu::HaarTest, cpu::HaarNormalisation>>(cascade, shape);
      return;
    case FeatureKind::lbp:
      compiled_ = std::make_unique<CompiledAs<cpu::LbpTest, cpu::LbpNormalisation>>(cascade, shape);
      return;
  }
  throw std::logic_error("unknown kind of feature");
}

Judge::~Judge() = default;

Judgement Judge::operator()(View<const std::uint8_t> picture) const {
  return compiled_->judge(compiled_->tables.local().build(picture, {1, 1}, 1));
}

int Judge::stage_count() const {
  return compiled_->stage_count();
}

std::vector<Judgement> judge(const Cascade& cascade, const Samples& samples,
                             const ShouldStop& should_stop) {
  const Judge judge_one(cascade);
  std::vector<Judgement> results(samples.count());
  constexpr std::size_t at_once = 256;  // between two checks of should_stop
  tbb::parallel_for(tbb::blocked_range(std::size_t{0}, results.size(), at_once),
                    [&](const auto& range) {
                      check_stop(should_stop);
                      for (std::size_t i = range.begin(); i < range.end(); ++i)
                        results[i] = judge_one(samples[i]);
                    });
  return results;
}

}  // namespace facesat::training

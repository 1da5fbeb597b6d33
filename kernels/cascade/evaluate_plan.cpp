// What evaluation needs to know before its first launch: layouts, tiles, the cascade's description.
#include <algorithm>
#include <cstring>
#include <variant>

#include "kernels/cascade/evaluate.hpp"

namespace facesat::gpu {

int min_shared_bytes(const Cascade& cascade) {
  const int planes = cascade.has_tilted() ? 2 : 1;
  return std::max(make_patch_layout(cascade.window, 1, planes, 0).bytes(),
                  make_patch_layout(cascade.window, 2, planes, 0).bytes());
}

StepCascade describe(const CompiledCascade& compiled, const PatchLayout& layout) {
  StepCascade step{};
  step.layout = layout;
  step.stage_count = static_cast<std::int32_t>(compiled.stages.size());
  step.normalised_area = compiled.normalised_area;
  step.min_spread = compiled.min_spread;
  std::ranges::copy(compiled.normalised_corners, step.normalised_corners);
  std::visit(
      [&](const auto& nodes) {
        constexpr std::size_t room = parameter_bytes / sizeof nodes[0];
        const std::size_t count = std::min(nodes.size(), room);
        if (count > 0) std::memcpy(step.first_nodes, nodes.data(), count * sizeof nodes[0]);
        for (const std::int32_t end : compiled.stage_ends)
          step.parameter_stages += end <= static_cast<int>(room);
      },
      compiled.nodes);
  return step;
}

EvaluatePlan plan_evaluate(const Pyramid& pyramid, const AtlasPlan& atlas, const Cascade& cascade) {
  EvaluatePlan plan;
  for (const int step : {1, 2})
    plan.layout[step - 1] =
        make_patch_layout(cascade.window, step, cascade.has_tilted() ? 2 : 1, target_patch_bytes);
  for (int i = 0; i < static_cast<int>(pyramid.levels.size()); ++i) {
    const Level& level = pyramid.levels[i];
    const int rows = plan.layout[level.step - 1].rows_of_windows;
    const int across = divide_up(level.grid.width, tile_columns);
    plan.first_tile.push_back(static_cast<int>(plan.tiles.size()));
    for (int row = 0; row * rows < level.grid.height; ++row)
      for (int column = 0; column < across; ++column)
        plan.tiles.push_back({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(column),
                              static_cast<std::uint64_t>(row)});
    plan.levels.push_back({atlas.places[i].x, atlas.places[i].y, level.step, level.grid.width,
                           level.grid.height, across, static_cast<std::int32_t>(plan.words)});
    plan.words += static_cast<std::size_t>(across) * level.grid.height;
  }
  plan.first_tile.push_back(static_cast<int>(plan.tiles.size()));
  return plan;
}

}  // namespace facesat::gpu

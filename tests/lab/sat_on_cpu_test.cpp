// The CPU's SAT algorithms of `facesat bench sat` against a plain double loop.
#include "lab/problems/sat_on_cpu.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "kernels/sat/types.hpp"

namespace facesat::test {
namespace {

using lab::Summed;

// Integers with random bits, whose sums wrap; real numbers so small that every sum is exact in any
// order.
template <class In, class Out>
Image<In> noise_of(Size size) {
  Image<In> picture(size);
  std::mt19937 random(7);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      picture.row(y)[x] = static_cast<In>(std::is_floating_point_v<Out> ? random() % 50 : random());
  return picture;
}

// The table is surrounded by a border of zeros, which must be unchanged afterwards.
template <Summed summed, class Out, class In, class Algorithm>
void check(View<const In> picture, Algorithm algorithm, const std::string& what) {
  const auto [width, height] = picture.size;
  Image<Out> memory({width + 2, height + 2});
  for (int y = 0; y < height + 2; ++y) std::fill_n(memory.row(y), width + 2, Out{});
  const View<Out> table = memory.view().sub({1, 1, width, height});
  // must be overwritten
  for (int y = 0; y < height; ++y) std::fill_n(table.row(y), width, static_cast<Out>(99));
  algorithm(picture, table);
  for (int y = 0; y < height; ++y) {
    Out row{};
    for (int x = 0; x < width; ++x) {
      const Out v = static_cast<Out>(picture.row(y)[x]);
      row += summed == Summed::squares ? v * v : v;
      ASSERT_EQ(table.row(y)[x], row + table.row(y - 1)[x]) << what << " at " << x << ", " << y;
    }
  }
  for (int y = -1; y <= height; ++y)
    for (int x = -1; x <= width; ++x)
      if (x < 0 || y < 0 || x == width || y == height) {
        ASSERT_EQ(table.row(y)[x], Out{}) << what << ", outside, at " << x << ", " << y;
      }
}

TEST(CpuSats, AllTypesAndAwkwardSizes) {
  for (const Size size : {Size{1, 1}, {1, 70}, {133, 1}, {3, 5}, {33, 65}, {65, 33}})
    for (const gpu::SatTypeInfo& info : gpu::sat_types)
      gpu::visit_types(info.type, [&]<class In, class Out>(In, Out) {
        const Image<In> image = noise_of<In, Out>(size);
        const View<const In> picture = image.view();
        const std::string what = std::string(info.name) + " " + std::to_string(size.width) + "x" +
                                 std::to_string(size.height);
        check<Summed::values, Out>(picture, lab::cpu_2r2w<Summed::values, In, Out>, what + " 2R2W");
        check<Summed::values, Out>(picture, lab::cpu_4r1w<Summed::values, In, Out>, what + " 4R1W");
        if (sizeof(In) > 1) return;
        check<Summed::squares, Out>(picture, lab::cpu_2r2w<Summed::squares, In, Out>,
                                    what + " 2R2W, squares");
        check<Summed::squares, Out>(picture, lab::cpu_4r1w<Summed::squares, In, Out>,
                                    what + " 4R1W, squares");
      });
}

}  // namespace
}  // namespace facesat::test

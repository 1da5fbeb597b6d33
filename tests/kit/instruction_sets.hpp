// Runs the same code on every instruction set of the processor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "tests/kit/compare.hpp"

namespace facesat::test {

// Runs a function on one of the instruction sets that Highway was compiled for and this processor
// has.
template <class Run>
void on_instruction_set(std::int64_t target, Run run) {
  const auto choose = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);  // 0: all
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  SCOPED_TRACE(hwy::TargetName(target));
  choose(target);
  run();
  choose(0);
}

// On each of them, plain scalar code included.
template <class Run>
void on_every_instruction_set(Run run) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    on_instruction_set(target, run);
}

// On the next of them at each call, for long series of pictures.
template <class Run>
void on_instruction_sets_in_turn(Run run) {
  static std::size_t calls = 0;
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  const std::size_t round = calls / targets.size();  // each begins with another one
  on_instruction_set(targets[(calls++ + round) % targets.size()], run);
}

// Checks what filter(result) writes on every instruction set.
template <class T, class Filter>
void expect_result(View<const T> expected, const std::string& name, Filter filter) {
  on_every_instruction_set([&] {
    Guarded<T> result(expected.size);
    filter(result.view());
    EXPECT_TRUE(same(result.view(), expected)) << name;
    EXPECT_TRUE(result.intact()) << name;
  });
}

}  // namespace facesat::test

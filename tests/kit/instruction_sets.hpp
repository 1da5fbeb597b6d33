// Runs the same code on every instruction set of the processor.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "tests/kit/compare.hpp"

namespace facesat::test {

// Runs a function once on each instruction set that Highway was compiled for and this processor
// has, including plain scalar code.
template <class Run>
void on_every_instruction_set(Run run) {
  const auto choose = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);  // 0: all
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    choose(target);
    run();
  }
  choose(0);
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

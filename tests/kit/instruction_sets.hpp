// Runs a function once on each instruction set that Highway was compiled for and this processor
// has, including plain scalar code.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace facesat::test {

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

}  // namespace facesat::test

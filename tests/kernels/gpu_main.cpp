// facesat_gpu_tests: one program that can be copied to a machine with a GPU and run there.
#include <cstdio>

#include <gtest/gtest.h>

#include "kernels/device/gpu_info.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::string why_none;
  if (facesat::gpu::devices(&why_none).empty()) {
    std::printf("skipped: no CUDA device (%s)\n", why_none.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}

// The table of `facesat bench sat --kernels`, made from invented launches.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lab/problems/sat.hpp"

namespace facesat::lab {
namespace {

// Those of Table II of Chen et al. 2018, for a picture of 640 x 480.
Json npp_row() {
  return {{"id", "npp"},
          {"type", "8u32s"},
          {"width", 640},
          {"height", 480},
          {"kernels", sat_kernels({{{.kernel = "scanRow",
                                     .grid = {1, 480, 1},
                                     .block = {256, 1, 1},
                                     .registers = 20,
                                     .static_bytes = 2304,
                                     .resident_blocks = 8},
                                    1,
                                    {3, 4, 9}},
                                   {{.kernel = "scanCol",
                                     .grid = {641, 1, 1},
                                     .block = {1, 256, 1},
                                     .registers = 18,
                                     .static_bytes = 2304,
                                     .resident_blocks = 8},
                                    7,
                                    {}}})}};
}

TEST(SatKernels, EveryLaunchIsAnObject) {
  const Json kernels = npp_row()["kernels"];
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]["kernel"], "scanRow");
  EXPECT_EQ(kernels[0]["grid"], (Json{1, 480, 1}));
  EXPECT_EQ(kernels[0]["registers"], 20);
  EXPECT_EQ(kernels[0]["static_shared_bytes"], 2304);
  EXPECT_EQ(kernels[0]["median_us"], 4);
  EXPECT_EQ(kernels[1]["block"], (Json{1, 256, 1}));
  EXPECT_EQ(kernels[1]["launches"], 7);
  EXPECT_FALSE(kernels[1].contains("median_us"));
}

TEST(SatKernels, EveryLaunchIsALine) {
  Json without = npp_row();
  without.erase("kernels");
  without["id"] = "floor";
  const std::string table = sat_kernels_table(Json{without, npp_row()});
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  EXPECT_EQ(table.find("floor"), std::string::npos);
  for (const char* text :
       {"640x480  scanRow ", " 1x480 ", " 256 ", " 4.00\n", "641 ", " 1x256 ", "       -\n"})
    EXPECT_NE(table.find(text), std::string::npos) << text << "in\n" << table;
}

}  // namespace
}  // namespace facesat::lab

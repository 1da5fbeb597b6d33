// facesat bench: the contract of its output; the measured times are not checked here.
#include "tests/lab/bench.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lab/problems/sat.hpp"

namespace facesat::test {
namespace {

using Bench = BenchTest;

TEST_F(Bench, DetectMeasuresEveryDetectorOnTheSamePicture) {
  write_pgm("two.pgm", draw_faces({300, 160}, {{80, 70, 36}, {220, 80, 48}}));
  const Finished done =
      run({"bench", "detect", "--size", "150x140", "--size", "300x160", "--threads", "1,2",
           "--seconds", "0.01", "--json", "b.json", "two.pgm"});
  ASSERT_EQ(done.status, 0) << done.err;
  const Json all = table("b.json");
  EXPECT_TRUE(all["machine"].is_object());
  std::size_t ours = 0;
  for (const Json& row : all["rows"]) {
    for (const char* key :
         {"detector", "cascade", "width", "height", "threads", "sat", "median_ms", "p95_ms",
          "p99_ms", "with_upload_ms", "stages", "windows", "faces", "identical"})
      EXPECT_TRUE(row.contains(key)) << key;
    for (const char* key : {"gray", "resize", "sat", "evaluate", "download", "group"})
      EXPECT_TRUE(row["stages"].contains(key)) << key;
    EXPECT_EQ(row["identical"], true);
    EXPECT_EQ(row["faces"], row["width"] == 300 ? 2 : 1);
    EXPECT_GT(row["median_ms"], 0);
    EXPECT_LE(row["median_ms"], row["p99_ms"]);
    ours += row["detector"] == "facesat-cpu";
  }
  EXPECT_EQ(ours, 4u);  // 2 sizes, 1 and 2 threads
}

// `bench cascade` finds the same windows as `bench detect`. At each position it evaluates at least
// the 9 weak classifiers of the first stage, and at most all 2913.
TEST_F(Bench, CascadeMeasuresTheEvaluationAlone) {
  write_pgm("two.pgm", draw_faces({300, 160}, {{80, 70, 36}, {220, 80, 48}}));
  const auto rows_of = [&](const char* bench) {
    const Finished done = run({"bench", bench, "--backend", "cpu", "--size", "150x140", "--size",
                               "300x160", bench == std::string("detect") ? "--seconds" : "--runs",
                               "1", "--json", std::string(bench) + ".json", "two.pgm"});
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(read_text(folder / (std::string(bench) + ".json")))["rows"];
  };
  Json detected;
  for (const Json& row : rows_of("detect"))
    if (row["detector"] == "facesat-cpu") detected.push_back(row);
  const Json rows = rows_of("cascade");
  ASSERT_EQ(rows.size(), 2u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    EXPECT_EQ(row["backend"], "cpu");
    EXPECT_EQ(row["late"], "none");
    EXPECT_EQ(row["cascade"], "frontalface_default");
    EXPECT_EQ(row["width"], detected[i]["width"]);
    EXPECT_EQ(row["windows"], detected[i]["windows"]);
    EXPECT_GT(row["median_us"], 0);
    EXPECT_LE(row["min_us"], row["median_us"]);
    EXPECT_LE(row["median_us"], row["p95_us"]);
    EXPECT_GT(row["weak_classifiers_per_s"], 0);
    const auto positions = row["positions"].get<std::size_t>();
    EXPECT_GT(positions, row["windows"].get<std::size_t>());
    EXPECT_GE(row["weak_classifiers"].get<std::size_t>(), 9 * positions);
    EXPECT_LE(row["weak_classifiers"].get<std::size_t>(), 2913 * positions);
  }
}

TEST_F(Bench, CascadeRefusesGroupsThatDoNotRise) {
  write_pgm("one.pgm", draw_faces({60, 60}, {}));
  for (const char* late : {"", "some", "0", "3,3", "5,4", "3,", ",3", "3;5", "99999999999", "3/",
                           "/3", "3/3", "5/3", "1/3/5"}) {
    SCOPED_TRACE(late);
    expect_refused(run({"bench", "cascade", "--late", late, "one.pgm"}), {"--late"});
  }
}

TEST_F(Bench, SatMeasuresTheCpuAlongsideTheGpu) {
  // Arguments that are refused.
  for (const Arguments& arguments : std::vector<Arguments>{{"--size", "0x5"},
                                                           {"--size", "40000x5"},
                                                           {"--runs", "0"},
                                                           {"--type", "16u32s"},
                                                           {"--algorithm"},
                                                           {"--algorithm", "cpu_2r2w:1"},
                                                           {"--algorithm", "cpu_3r3w"}})
    expect_refused(run(joined({"bench", "sat"}, arguments)), {arguments[0]});
  const bool gpu = has_gpu();
  const Finished small =
      run({"bench", "sat", "--size", "64x32", "--runs", "2", "--squares", "--json", "s.json"});
  EXPECT_EQ(small.status, 0) << small.err;
  EXPECT_EQ(small.err.find("GPU algorithms are left out: ") == std::string::npos, gpu) << small.err;
  const Json rows = table("s.json")["rows"];
  std::vector<std::string> of_cpu;
  for (const Json& row : rows) {
    for (const char* key : {"id", "type", "width", "height", "median_us", "min_us", "p95_us"})
      EXPECT_TRUE(row.contains(key)) << key;
    for (const char* key : {"floor_us", "ratio"}) EXPECT_EQ(row.contains(key), gpu) << key;
    EXPECT_GT(row["median_us"], 0);
    EXPECT_TRUE(row["id"] == "floor" || row["id"] == "memcpy" || row["checked"] == true) << row;
    const std::string id = row["id"];
    if (id.starts_with("cpu_")) of_cpu.push_back(id);
  }
  EXPECT_EQ(of_cpu,
            (std::vector<std::string>{"cpu_2r2w", "cpu_4r1w", "cpu_blocks", "cpu_backend"}));
  EXPECT_EQ(rows.size() > of_cpu.size(), gpu);
  if (gpu) return;
  EXPECT_TRUE(has(small.out, "  -  checked"));
  for (const char* id : {"facesat_lookback", "peer_cub"})
    expect_refused(run({"bench", "sat", "--algorithm", id}), {"needs a GPU: "});
}

TEST_F(Bench, SatRowsOfTheCpuCanBeChosen) {
  std::vector<std::string> arguments{"bench", "sat", "--algorithm", "cpu_2r2w", "--size", "33x65"};
  const std::vector<std::string> types{"8u32s",  "8u32u",  "8u32f", "32s32s",
                                       "32u32u", "32f32f", "64f64f"};
  for (const std::string& type : types) arguments.insert(arguments.end(), {"--type", type});
  std::vector<std::string> measured;
  for (const Json& row : checked_rows(arguments)) {
    EXPECT_EQ(row["id"], "cpu_2r2w");
    measured.push_back(row["type"]);
  }
  EXPECT_EQ(measured, types);

  // An algorithm that does not support the type is reported if it was requested by name.
  const Finished none =
      run({"bench", "sat", "--algorithm", "cpu_backend", "--type", "64f64f", "--size", "8x8"});
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(has(none.out, "8u32s and 8u32u only"));
}

TEST_F(Bench, KernelsNeedAGpu) {
  const Finished done =
      run({"bench", "sat", "--kernels", "--algorithm", "chen_2018_brlt_scanrow", "--algorithm",
           "kasagi_2014_1r1w", "--size", "64x96", "--runs", "2", "--json", "k.json"});
  if (!has_gpu()) return expect_refused(done, {"--kernels needs a GPU: "});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(has(done.out, "\n\nalgorithm"));
  std::map<std::string, Json> kernels;
  const Json all = table("k.json");
  for (const Json& row : all["rows"])
    if (row.contains("kernels")) kernels[row["id"]] = row["kernels"];
  ASSERT_EQ(kernels.size(), 2u);
  const Json &twice = kernels["chen_2018_brlt_scanrow"], &diagonals = kernels["kasagi_2014_1r1w"];
  ASSERT_EQ(twice.size(), 2u);
  for (const Json& launch : twice) EXPECT_GT(launch["median_us"], 0);
  ASSERT_EQ(diagonals.size(), 1u);
  EXPECT_FALSE(diagonals[0].contains("median_us"));
}

TEST_F(Bench, MicroFiguresAndModelsNeedAGpu) {
  expect_refused(run({"bench", "micro", "--device", "-1"}), {"--device"});
  const Finished micro = run({"bench", "micro", "--json", "m.json"});
  const Finished sat = run({"bench", "sat", "--model", "--algorithm", "all", "--size", "64x32",
                            "--runs", "2", "--json", "s.json"});
  if (!has_gpu()) {
    expect_refused(micro, {"micro-benchmarks run on a GPU: "});
    return expect_refused(sat, {"--model needs a GPU: "});
  }
  EXPECT_EQ(micro.status, 0) << micro.err;
  const Json figures = table("m.json");
  EXPECT_TRUE(figures["machine"].is_object());
  EXPECT_GT(figures["rows"].size(), 5u);
  for (const Json& row : figures["rows"]) {
    EXPECT_TRUE(row.contains("id") && row.contains("unit"));
    EXPECT_GT(row["value"], 0) << row["id"];
  }
  EXPECT_EQ(sat.status, 0) << sat.err;
  EXPECT_TRUE(has(sat.out, "model us"));
  std::size_t models = 0;
  const Json all = table("s.json");
  for (const Json& row : all["rows"]) {
    EXPECT_EQ(row.contains("model_us"), row.contains("model")) << row["id"];
    if (!row.contains("model_us")) continue;
    ++models;
    EXPECT_GT(row["model_us"], 0) << row["id"];
    const std::string id = row["id"];
    EXPECT_EQ(row.contains("throughput_us"), id.starts_with("chen_2018_")) << id;
    if (row.contains("throughput_us")) {
      EXPECT_GT(row["throughput_us"], 0) << id;
    }
  }
  EXPECT_EQ(models, Json::parse(run({"info", "--json"}).out)["sat"].size());
}

TEST_F(Bench, TheFastestValueOfAParameterIsSearched) {
  expect_refused(run({"bench", "sat", "--search", "--algorithm", "cpu_2r2w", "--size", "8x8"}),
                 {"--search"});
  const Finished done =
      run({"bench", "sat", "--search", "--algorithm", "kasagi_2014_hybrid:0.25", "--algorithm",
           "dang_2014_blocked", "--size", "256x160", "--runs", "2", "--json", "s.json"});
  if (!has_gpu()) return expect_refused(done, {"--search needs a GPU: "});
  EXPECT_EQ(done.status, 0) << done.err;
  std::map<std::string, int> rows, fastest, searched;
  const Json all = table("s.json");
  for (const Json& row : all["rows"]) {
    const std::string id = row["id"], algorithm = id.substr(0, id.find(':'));
    EXPECT_EQ(row.contains("value"), algorithm != "floor" && algorithm != "memcpy") << id;
    ++rows[algorithm];
    fastest[algorithm] += row.contains("fastest");
    searched[algorithm] += row.contains("searched");
  }
  // 8 x 5 tiles have 12 anti-diagonals, so that each corner has 1 to 5 of them.
  EXPECT_EQ(rows["kasagi_2014_hybrid"], 1 + 5);
  EXPECT_EQ(searched["kasagi_2014_hybrid"], 5);
  EXPECT_EQ(searched["dang_2014_blocked"], 6);
  EXPECT_EQ(fastest["kasagi_2014_hybrid"], 1);
  EXPECT_EQ(fastest["dang_2014_blocked"], 1);
  EXPECT_TRUE(has(done.out, "is the fastest of 6 values"));
}

TEST_F(Bench, MistakesAreReportedInASentence) {
  write_pgm("small.pgm", draw_faces({30, 30}, {}));
  for (const auto& [argument, said] : {std::pair{"9x", "expected N or WxH"},
                                       {"31x30", "from 1x1 to 30x30"},
                                       {"0x5", "from 1x1 to 30x30"}})
    expect_refused(run({"bench", "detect", "--size", argument, "small.pgm"}), {said});
  expect_refused(run({"bench", "detect", "missing.pgm"}), {"missing.pgm"});
  EXPECT_EQ(run({"bench"}).status, 2);
}

}  // namespace
}  // namespace facesat::test

// ---- the table of `facesat bench sat --kernels`, made from invented launches
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
  test::expect_words(
      table, {"640x480  scanRow ", " 1x480 ", " 256 ", " 4.00\n", "641 ", " 1x256 ", "       -\n"});
}

}  // namespace
}  // namespace facesat::lab

// facesat bench scan: the contract of its output, and the page of its --report; the measured times
// are not checked here.
#include "kernels/scan/algorithm.hpp"
#include "tests/lab/bench.hpp"

namespace facesat::test {
namespace {

using ScanBench = BenchTest;

TEST_F(ScanBench, RowsOfTheCpuAreCheckedForEveryTypeOperatorAndKind) {
  for (const char* op : {"sum", "product", "minimum", "maximum"})
    for (const bool is_exclusive : {false, true}) {
      std::vector<std::string> arguments{"bench",       "scan",       "--operator",  op,
                                         "--algorithm", "cpu_serial", "--algorithm", "cpu_threads",
                                         "--size",      "1",          "--size",      "2^9",
                                         "--size",      "1021"};
      if (is_exclusive) arguments.insert(arguments.end(), {"--exclusive", "--in-place"});
      const std::vector<std::string> types{"32s", "32u", "64s", "32f", "64f"};
      for (const std::string& type : types) arguments.insert(arguments.end(), {"--type", type});
      std::vector<std::string> measured;
      for (const Json& row : checked_rows(arguments)) {
        measured.push_back(row["type"].get<std::string>() + " " + row["id"].get<std::string>() +
                           " " + row["n"].dump());
        EXPECT_EQ(row["settings"], "");
        EXPECT_EQ(row["operator"], op);
        EXPECT_EQ(row["inclusive"], !is_exclusive);
        EXPECT_EQ(row["in_place"], is_exclusive);
        EXPECT_GT(row["gb_per_s"], 0);
      }
      std::vector<std::string> expected;
      for (const std::string& type : types)
        for (const char* n : {"1", "512", "1021"})
          for (const char* id : {"cpu_serial", "cpu_threads"})
            expected.push_back(type + " " + id + " " + n);
      EXPECT_EQ(measured, expected);
    }
}

TEST_F(ScanBench, OrdersAndTuplesAreChecked) {
  const Arguments common{"bench",  "scan", "--algorithm", "cpu_serial",
                         "--size", "1",    "--size",      "1021"};
  for (const char* tuple : {"1", "2", "8"}) {
    for (const char* order : {"2", "8"})
      for (const Arguments& kind : std::vector<Arguments>{{}, {"--exclusive", "--in-place"}}) {
        const Json rows =
            checked_rows(joined(joined(common, kind), {"--type", "32s", "--type", "32u", "--type",
                                                       "64s", "--order", order, "--tuple", tuple}),
                         {{"order", std::stoi(order)}, {"tuple", std::stoi(tuple)}});
        EXPECT_EQ(rows.size(), 6u);
      }
    EXPECT_EQ(checked_rows(joined(common, {"--operator", "maximum", "--tuple", tuple})).size(), 4u);
  }
  const Json of_order_3 = checked_rows(joined(common, {"--order", "3"}));
  EXPECT_EQ(of_order_3.size(), 2u);
  EXPECT_EQ(of_order_3[0]["type"], "32s");  // real numbers would not be exact
}

TEST_F(ScanBench, AlgorithmsWithoutOrdersSayWhy) {
  for (const char* option : {"--order", "--tuple"}) {
    const Finished done = run({"bench", "scan", option, "2", "--type", "32s", "--size", "100",
                               "--runs", "2", "--algorithm", "cpu_threads"});
    EXPECT_NE(done.status, 0);
    EXPECT_TRUE(has(done.out, "for scans of order 1 and single elements only")) << done.out;
  }
  if (has_gpu()) return;
  const Finished all =
      run({"bench", "scan", "--order", "2", "--size", "100", "--runs", "2", "--json", "s.json"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_EQ(table("s.json")["rows"].size(), 1u);  // of cpu_serial
}

TEST_F(ScanBench, MistakesAreReportedInASentence) {
  for (const auto& [arguments, said] : std::vector<std::pair<Arguments, std::string>>{
           {{"--size", "0"}, "from 1 to 2^30"},
           {{"--size", "2^31"}, "from 1 to 2^30"},
           {{"--size", "1073741825"}, "from 1 to 2^30"},
           {{"--size", "2^x"}, "from 1 to 2^30"},
           {{"--size", "12 "}, "from 1 to 2^30"},
           {{"--type", "8u"}, "known are 32s, 32u, 64s, 32f, 64f"},
           {{"--operator", "xor"}, "expected compose|maximum|minimum|product|sum"},
           {{"--operator", "compose", "--type", "32f"}, "compose is for affine32u and affine32f"},
           {{"--operator", "sum", "--type", "affine32u"}, "the other operators are for numbers"},
           {{"--order", "0"}, "from 1 to 8"},
           {{"--order", "9"}, "from 1 to 8"},
           {{"--tuple", "two"}, "from 1 to 8"},
           {{"--tuple", "9"}, "from 1 to 8"},
           {{"--order", "2", "--type", "32f"}, "only for sums of 32s, 32u and 64s"},
           {{"--order", "2", "--operator", "product"}, "only for sums of 32s, 32u and 64s"},
           {{"--runs", "0"}, "--runs"},
           {{"--algorithm", "blelloch_1789"}, "there is no such algorithm; known are "},
           {{"--algorithm", "cpu_serial:threads=4"}, "cpu_serial has no parameters"},
           {{"--algorithm", "peer_cub:x=1"}, "peer_cub has no parameters"},
           {{"--algorithm", "facesat_scan_repeated:threads=64"}, "has no parameters"},
           {{"--json", "same", "--report", "same"}, "need different files"}})
    expect_refused(run(joined({"bench", "scan"}, arguments)), {arguments[0], said});
}

TEST_F(ScanBench, ParametersOfAlgorithmsAreKnownWhereTheirKernelsAre) {
  if (gpu::scan_algorithms().empty()) GTEST_SKIP() << "this build has no CUDA";
  expect_refused(run({"bench", "scan", "--algorithm", "dieguez_2014_da:warps=3"}),
                 {"no parameter \"warps\"; known are threads"});
  expect_refused(run({"bench", "scan", "--algorithm", "dieguez_2014_da:threads=3"}),
                 {"threads must be one of "});
}

TEST_F(ScanBench, WithoutAGpuOnlyTheCpuIsMeasured) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const Finished all = run({"bench", "scan", "--size", "100", "--runs", "2", "--json", "s.json"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_TRUE(has(all.err, "GPU algorithms are left out: "));
  EXPECT_EQ(table("s.json")["rows"].size(), 4u);  // 2 types
  for (const Arguments& arguments : std::vector<Arguments>{
           {"--algorithm", "facesat_scan"}, {"--algorithm", "peer_cub"}, {"--model"}, {"--search"}})
    expect_refused(run(joined({"bench", "scan"}, arguments)), {arguments[0], "needs a GPU: "});
}

// A row as `bench scan --json` writes it.
Json scan_row(const std::string& id, const std::string& settings, int n, double us,
              double floor_us) {
  return row_of(id,
                {{"settings", settings},
                 {"type", "32f"},
                 {"operator", "product"},
                 {"inclusive", false},
                 {"order", 2},
                 {"tuple", 3},
                 {"in_place", true},
                 {"n", n},
                 {"gb_per_s", 8.0 * n / us / 1000}},
                us, floor_us);
}

TEST(ScanReport, ShowsEveryRow) {
  Json rows{scan_row("floor", "", 1 << 20, 5, 5),
            scan_row("horn_2005", "threads=64", 1 << 20, 15, 5),
            scan_row("horn_2005", "threads=128", 1 << 20, 12, 5),
            scan_row("floor", "", 1000000, 4, 4),
            scan_row("horn_2005", "threads=64", 1000000, 14, 4),
            scan_row("peer_cub", "", 1000000, 6, 4)};
  const auto problem = explained_as(
      "scan", rows, {"Recursive <doubling>", "Horn & others", {"threads: threads per block"}});
  const Page page(*problem, rows, {{"cores", 52}}, "facesat bench scan --runs 5");
  const auto count = [&](const char* path) { return page.count(path); };
  EXPECT_EQ(count("//figure[@class='lines']//g[starts-with(@class,'point')]"), rows.size());
  EXPECT_EQ(count("//figure[@class='bars']//g[starts-with(@class,'bar')]"), rows.size());
  EXPECT_EQ(count("//section[not(@id)]//table//tr[th[@scope='row']]"), rows.size());
  EXPECT_EQ(count("//figure[@class='bars']"), 2u);  // one for each length
  // A line for the floor, for CUB, and for each setting of the algorithm that has two at one size.
  EXPECT_EQ(count("//figure[@class='lines']//g[starts-with(@class,'series')]"), 4u);
  EXPECT_EQ(count("//section[@id='algorithms']//tbody/tr"), 3u);
  page.expect_links();
  EXPECT_TRUE(has(page.words("//h2"), "exclusive product of order 2, tuples of 3, in place"));
  expect_words(page.words("//section[not(@id)]//table"),
               {"2^20", "1\u202f000\u202f000", "threads=128", "2.40"});
  expect_words(page.words("//tr[@id='id-horn_2005']"),
               {"Recursive <doubling>", "Horn & others", "threads: threads per block"});
  EXPECT_EQ(page.data()["rows"], rows);
}

TEST_F(ScanBench, ReportIsWritten) {
  expect_report({"bench", "scan", "--algorithm", "cpu_serial", "--size", "2^12", "--runs", "2"},
                {"cpu_serial", "2^12", "facesat bench scan", "--runs 2", "</html>"});
}

}  // namespace
}  // namespace facesat::test

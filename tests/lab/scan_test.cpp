// facesat bench scan: the contract of its output, and the page of its --report; the measured times
// are not checked here.
#include "kernels/scan/algorithm.hpp"
#include "tests/kit/program.hpp"
#include "tests/lab/page.hpp"

namespace facesat::test {
namespace {

using ScanBench = ProgramTest;

TEST_F(ScanBench, RowsOfTheCpuAreCheckedForEveryTypeOperatorAndKind) {
  for (const char* op : {"sum", "product", "minimum", "maximum"})
    for (const bool is_exclusive : {false, true}) {
      std::vector<std::string> arguments{
          "bench",       "scan",        "--operator", op,    "--algorithm", "cpu_serial",
          "--algorithm", "cpu_threads", "--runs",     "2",   "--json",      "s.json",
          "--size",      "1",           "--size",     "2^9", "--size",      "1021"};
      if (is_exclusive) arguments.insert(arguments.end(), {"--exclusive", "--in-place"});
      const std::vector<std::string> types{"32s", "32u", "64s", "32f", "64f"};
      for (const std::string& type : types) arguments.insert(arguments.end(), {"--type", type});
      const Finished done = run(arguments);
      EXPECT_EQ(done.status, 0) << done.err;
      EXPECT_EQ(done.err, "");
      EXPECT_EQ(done.out.find("WRONG"), std::string::npos) << done.out;
      std::vector<std::string> measured;
      const Json table = Json::parse(read_text(folder / "s.json"));
      for (const Json& row : table["rows"]) {
        const std::string id = row["id"];
        if (!id.starts_with("cpu_")) continue;  // "floor" and "memcpy" of a GPU
        measured.push_back(row["type"].get<std::string>() + " " + id + " " + row["n"].dump());
        EXPECT_EQ(row["checked"], true);
        EXPECT_EQ(row["settings"], "");
        EXPECT_EQ(row["operator"], op);
        EXPECT_EQ(row["inclusive"], !is_exclusive);
        EXPECT_EQ(row["in_place"], is_exclusive);
        EXPECT_GT(row["gb_per_s"], 0);
        EXPECT_LE(row["min_us"], row["median_us"]);
        EXPECT_LE(row["median_us"], row["p95_us"]);
      }
      std::vector<std::string> expected;
      for (const std::string& type : types)
        for (const char* n : {"1", "512", "1021"})
          for (const char* id : {"cpu_serial", "cpu_threads"})
            expected.push_back(type + " " + id + " " + n);
      EXPECT_EQ(measured, expected);
    }
}

TEST_F(ScanBench, MistakesAreReportedInASentence) {
  for (const auto& [arguments, said] : std::vector<std::pair<Arguments, std::string>>{
           {{"--size", "0"}, "from 1 to 2^30"},
           {{"--size", "2^31"}, "from 1 to 2^30"},
           {{"--size", "1073741825"}, "from 1 to 2^30"},
           {{"--size", "2^x"}, "from 1 to 2^30"},
           {{"--size", "12 "}, "from 1 to 2^30"},
           {{"--type", "8u"}, "known are 32s, 32u, 64s, 32f, 64f"},
           {{"--operator", "xor"}, "expected maximum|minimum|product|sum"},
           {{"--runs", "0"}, "--runs"},
           {{"--algorithm", "blelloch_1789"}, "there is no such algorithm; known are "},
           {{"--algorithm", "cpu_serial:threads=4"}, "cpu_serial has no parameters"},
           {{"--algorithm", "peer_cub:x=1"}, "peer_cub has no parameters"},
           {{"--json", "same", "--report", "same"}, "need different files"}}) {
    Arguments all{"bench", "scan"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Finished done = run(all);
    EXPECT_EQ(done.status, 2) << arguments[1];
    EXPECT_EQ(done.out, "");
    EXPECT_NE(done.err.find(arguments[0]), std::string::npos) << done.err;
    EXPECT_NE(done.err.find(said), std::string::npos) << done.err;
  }
}

TEST_F(ScanBench, ParametersOfAlgorithmsAreKnownWhereTheirKernelsAre) {
  if (gpu::scan_algorithms().empty()) GTEST_SKIP() << "this build has no CUDA";
  const Finished unknown = run({"bench", "scan", "--algorithm", "dieguez_2014_da:warps=3"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("no parameter \"warps\"; known are threads"), std::string::npos)
      << unknown.err;
  const Finished value = run({"bench", "scan", "--algorithm", "dieguez_2014_da:threads=3"});
  EXPECT_EQ(value.status, 2);
  EXPECT_NE(value.err.find("threads must be one of "), std::string::npos) << value.err;
}

TEST_F(ScanBench, WithoutAGpuOnlyTheCpuIsMeasured) {
  if (!Json::parse(run({"info", "--json"}).out)["devices"].empty())
    GTEST_SKIP() << "this machine has a GPU";
  const Finished all = run({"bench", "scan", "--size", "100", "--runs", "2", "--json", "s.json"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_NE(all.err.find("GPU algorithms are left out: "), std::string::npos) << all.err;
  EXPECT_EQ(Json::parse(read_text(folder / "s.json"))["rows"].size(), 4u);  // 2 types
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--algorithm", "facesat_scan"},
        {"--algorithm", "peer_cub"},
        {"--model"},
        {"--search"}}) {
    std::vector<std::string> refused{"bench", "scan"};
    refused.insert(refused.end(), arguments.begin(), arguments.end());
    const Finished done = run(refused);
    EXPECT_EQ(done.status, 2) << arguments[0];
    EXPECT_NE(done.err.find(arguments[0]), std::string::npos) << done.err;
    EXPECT_NE(done.err.find("needs a GPU: "), std::string::npos) << done.err;
  }
}

// A row as `bench scan --json` writes it.
Json row(const std::string& id, const std::string& settings, int n, double us, double floor_us) {
  Json row{{"id", id},
           {"settings", settings},
           {"type", "32f"},
           {"operator", "product"},
           {"inclusive", false},
           {"in_place", true},
           {"n", n},
           {"median_us", us},
           {"min_us", us},
           {"p95_us", us},
           {"floor_us", floor_us},
           {"ratio", us / floor_us},
           {"gb_per_s", 8.0 * n / us / 1000}};
  if (id != "floor") row["checked"] = true;
  return row;
}

TEST(ScanReport, ShowsEveryRow) {
  Json rows{row("floor", "", 1 << 20, 5, 5),
            row("horn_2005", "threads=64", 1 << 20, 15, 5),
            row("horn_2005", "threads=128", 1 << 20, 12, 5),
            row("floor", "", 1000000, 4, 4),
            row("horn_2005", "threads=64", 1000000, 14, 4),
            row("peer_cub", "", 1000000, 6, 4)};
  const ExplainedAs problem(
      "scan", {"Recursive <doubling>", "Horn & others", {"threads: threads per block"}});
  const Page page(problem, rows, {{"cores", 52}}, "facesat bench scan --runs 5");
  const auto count = [&](const char* path) { return page.count(path); };
  EXPECT_EQ(count("//figure[@class='lines']//g[starts-with(@class,'point')]"), rows.size());
  EXPECT_EQ(count("//figure[@class='bars']//g[starts-with(@class,'bar')]"), rows.size());
  EXPECT_EQ(count("//section[not(@id)]//table//tr[th[@scope='row']]"), rows.size());
  EXPECT_EQ(count("//figure[@class='bars']"), 2u);  // one for each length
  // A line for the floor, for CUB, and for each setting of the algorithm that has two at one size.
  EXPECT_EQ(count("//figure[@class='lines']//g[starts-with(@class,'series')]"), 4u);
  EXPECT_EQ(count("//section[@id='algorithms']//tbody/tr"), 3u);
  page.expect_links();
  EXPECT_NE(page.words("//h2").find("exclusive product, in place"), std::string::npos);
  const std::string told = page.words("//section[not(@id)]//table");
  for (const char* word : {"2^20", "1\u202f000\u202f000", "threads=128", "2.40"})
    EXPECT_NE(told.find(word), std::string::npos) << word << " in " << told;
  const std::string algorithm = page.words("//tr[@id='id-horn_2005']");
  for (const char* word : {"Recursive <doubling>", "Horn & others", "threads: threads per block"})
    EXPECT_NE(algorithm.find(word), std::string::npos) << word << " in " << algorithm;
  EXPECT_EQ(page.data()["rows"], rows);
}

TEST_F(ScanBench, ReportIsWritten) {
  const std::vector<std::string> arguments{"bench",    "scan",  "--algorithm", "cpu_serial",
                                           "--size",   "2^12",  "--runs",      "2",
                                           "--report", "r.html"};
  ASSERT_EQ(run(arguments).status, 0);
  const std::string text = read_text(folder / "r.html");
  for (const char* word : {"cpu_serial", "2^12", "facesat bench scan", "--runs 2", "</html>"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
  EXPECT_EQ(run(arguments).status, 0);  // in place of the earlier one
  write_text(folder / "r.html", "a page that somebody else wrote");
  const Finished done = run(arguments);
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("r.html"), std::string::npos) << done.err;
}

}  // namespace
}  // namespace facesat::test

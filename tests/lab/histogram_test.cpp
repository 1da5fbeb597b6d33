// facesat bench histogram: the contract of its output, and the page of its --report; the measured
// times are not checked here.
#include "tests/lab/bench.hpp"

namespace facesat::test {
namespace {

class HistogramBench : public BenchTest {
 protected:
  static Arguments histogram(const Arguments& arguments) {
    return joined({"bench", "histogram"}, arguments);
  }
};

TEST_F(HistogramBench, RowsOfTheCpuAreCheckedForEverySizeAndNumberOfBins) {
  Arguments measured, expected;
  for (const Json& row : checked_rows(
           histogram({"--algorithm", "cpu_serial", "--algorithm", "cpu_threads", "--size", "1x1",
                      "--size", "65x33", "--bins", "1", "--bins", "7", "--bins", "256"}))) {
    measured.push_back(row["id"].get<std::string>() + " " + row["width"].dump() + " " +
                       row["height"].dump() + " " + row["bins"].dump());
    EXPECT_GT(row["gb_per_s"], 0);
  }
  for (const char* size : {"1 1", "65 33"})
    for (const char* bins : {"1", "7", "256"})
      for (const char* id : {"cpu_serial", "cpu_threads"})
        expected.push_back(std::string(id) + " " + size + " " + bins);
  EXPECT_EQ(measured, expected);
}

TEST_F(HistogramBench, MistakesAreReportedInASentence) {
  for (const auto& [arguments, said] : std::vector<std::pair<Arguments, std::string>>{
           {{"--size", "40000x10"}, "from 1 to 32768"},
           {{"--bins", "0"}, "expected a number from 1 to 256"},
           {{"--bins", "257"}, "expected a number from 1 to 256"},
           {{"--bins", "few"}, "expected a number from 1 to 256"},
           {{"--algorithm", "cw_tiles"},
            "known are wf_tis, cw_tis, cw_sts, cw_b, cpu_serial, cpu_threads"},
           {{"--json", "same", "--report", "same"}, "need different files"}})
    expect_refused(run(histogram(arguments)), {arguments[0], said});
}

TEST_F(HistogramBench, WithoutAGpuOnlyTheCpuIsMeasured) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const Finished all =
      run(histogram({"--size", "9x9", "--bins", "4", "--runs", "1", "--json", "h.json"}));
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_TRUE(has(all.err, "GPU algorithms are left out: "));
  EXPECT_EQ(table("h.json")["rows"].size(), 2u);
  expect_refused(run(histogram({"--algorithm", "cw_b"})), {"--algorithm cw_b needs a GPU: "});
}

TEST_F(HistogramBench, ReportIsWritten) {
  expect_report(
      histogram({"--algorithm", "cpu_serial", "--size", "20x30", "--bins", "4", "--runs", "1"}),
      {"cpu_serial", "20×30", "4 bins", "facesat bench histogram", "</html>"});
}

// A row as `bench histogram --json` writes it.
Json histogram_row(const std::string& id, int bins, double us, double floor_us) {
  return row_of(id, {{"width", 512}, {"height", 512}, {"bins", bins}}, us, floor_us);
}

TEST(HistogramReport, HasASectionForEachNumberOfBins) {
  const Json rows{histogram_row("floor", 16, 5, 5), histogram_row("wf_tis", 16, 15, 5),
                  histogram_row("cw_b", 16, 900, 5), histogram_row("floor", 32, 10, 10),
                  histogram_row("wf_tis", 32, 30, 10)};
  const Page page(*problem_named("histogram"), rows, {{"cores", 52}}, "facesat bench histogram");
  const auto count = [&](const char* path) { return page.count(path); };
  EXPECT_EQ(count("//section[not(@id)]"), 2u);
  EXPECT_EQ(count("//section[not(@id)]//table//tr[th[@scope='row']]"), rows.size());
  EXPECT_EQ(count("//section[@id='algorithms']//tbody/tr"), 3u);
  expect_words(page.words("//tr[@id='id-cw_b']"), {"Cross-weave, the baseline", "Poostchi"});
  page.expect_links();
}

}  // namespace
}  // namespace facesat::test

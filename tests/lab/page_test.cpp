// The page of --report, made from invented rows of `facesat bench sat` and read as XML; then the
// option itself.
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"
#include "tests/lab/bench.hpp"

namespace facesat::test {
namespace {

// A row as `bench sat --json` writes it, for a square picture of 8-bit pixels: per element, 1 byte
// is read and 4 are written.
Json sat_row(const std::string& id, int side, double us, double floor_us = 5) {
  return row_of(id,
                {{"type", "8u32s"},
                 {"squares", false},
                 {"width", side},
                 {"height", side},
                 {"gb_per_s", 5.0 * side * side / us / 1000}},
                us, floor_us);
}

Json failed_row(const std::string& id, int side, const std::string& sentence) {
  return {{"id", id}, {"type", "8u32s"}, {"width", side}, {"height", side}, {"failure", sentence}};
}

Json without_floor(Json row) {
  row.erase("floor_us");
  row.erase("ratio");
  return row;
}

// Three rows at each of two sizes.
Json few_rows() {
  return {sat_row("floor", 1024, 5),
          sat_row("facesat_lookback", 1024, 7),
          sat_row("kasagi_2014_4r1w", 1024, 7000),
          sat_row("floor", 4096, 25, 25),
          sat_row("facesat_lookback", 4096, 37, 25),
          sat_row("kasagi_2014_4r1w", 4096, 27000, 25)};
}

Page page_of_rows(const Json& rows) {
  return {"sat", rows};
}

const std::string ratio_points = "//figure[@class='lines']//g[starts-with(@class,'point')]";
const std::string bars = "//figure[@class='bars']//g[starts-with(@class,'bar')]";
const std::string model_points = "//figure[@class='scatter']//g[starts-with(@class,'point')]";
const std::string figures = "//section[not(@id)]//table//tr[th[@scope='row']]";

TEST(SatReport, IsSelfContained) {
  const Page page = page_of_rows(few_rows());
  EXPECT_TRUE(page.text.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(page.count("//link | //img | //iframe | //@src"), 0u);
  EXPECT_EQ(page.count("//script"), page.count("//script[@type='application/json']"));
  for (const char* word : {"http:", "https:", "@import", "url("})
    EXPECT_EQ(page.text.find(word), std::string::npos) << word;
  page.expect_links();
}

TEST(SatReport, EveryRowIsAPointABarAndALine) {
  Json rows = few_rows();
  for (const Json& one : few_rows()) {
    rows.push_back(one);
    rows.back()["type"] = "8u32u";
    rows.back()["squares"] = true;
  }
  const Page page = page_of_rows(rows);
  // Per type a figure of lines; per type and size a figure of bars.
  EXPECT_EQ(page.count("//figure[@class='lines']"), 2u);
  EXPECT_EQ(page.count("//figure[@class='bars']"), 4u);
  EXPECT_EQ(page.count(ratio_points), rows.size());
  EXPECT_EQ(page.count(bars), rows.size());
  EXPECT_EQ(page.count(figures), rows.size());
  EXPECT_EQ(page.count("//section[@id='algorithms']//tbody/tr"), 3u);
  EXPECT_EQ(page.count("//figure[@class='scatter']"), 0u);
  EXPECT_EQ(page.data()["rows"], rows);
  EXPECT_TRUE(has(page.words("//h2"), "8-bit unsigned pictures, 32-bit signed tables"));
}

TEST(SatReport, ShowsTitlesMachineAndCommand) {
  const auto problem = explained_as("sat", few_rows(), {"Look-back (1R1W)", "A & B 2014", {"3"}});
  const Page page(*problem, few_rows(), {{"gpus", {"One GPU", "Another"}}, {"cores", 52}},
                  "facesat bench sat --runs 5");
  expect_words(page.words("//tr[@id='id-facesat_lookback']"),
               {"Look-back (1R1W)", "A & B 2014", "3"});
  expect_words(page.words("//dl"), {"One GPU, Another", "52", "facesat bench sat --runs 5"});
}

TEST(SatReport, EscapesAllText) {
  const std::string nasty = "</script><b a='1'>&amp; \"\x01 \\u003c";
  Json rows = few_rows();
  rows.push_back(sat_row(nasty, 4096, 50, 25));
  rows.push_back(failed_row("nehab_2011", 4096, nasty));
  for (Json& one : rows) one["type"] = nasty;
  const Page page(*explained_as("sat", rows, {nasty, nasty, {nasty}}), rows, {{nasty, nasty}},
                  nasty);
  std::string readable = nasty;  // XML allows no control characters
  readable[readable.find('\x01')] = ' ';
  for (const char* path :
       {"//h2", "//dt", "//dd", "//section[@id='algorithms']//tr", "//td[@class='words bad']",
        "//figure[@class='lines']//text", "//figure[@class='bars']//text"})
    EXPECT_NE(page.words(path).find(readable), std::string::npos) << path;
  EXPECT_EQ(page.count("//b[@a]"), 0u);
  EXPECT_EQ(page.data()["rows"], rows);
  EXPECT_EQ(page.data()["command"], nasty);
}

TEST(SatReport, BarsAreInOrderAndMarkTheFloor) {
  const Page page = page_of_rows(Json{sat_row("nehab_2011", 64, 26), sat_row("floor", 64, 5),
                                      sat_row("peer_cub", 64, 2000), sat_row("npp_style", 64, 60),
                                      sat_row("facesat_lookback", 64, 7)});
  std::vector<std::string> names;
  for (const pugi::xpath_node& name : page.all(bars + "/text[@class='left']"))
    names.emplace_back(name.node().child_value());
  EXPECT_EQ(names, (std::vector<std::string>{"floor", "facesat_lookback", "nehab_2011", "npp_style",
                                             "peer_cub"}));
  const std::vector<double> widths = page.numbers(bars + "/rect", "width");
  EXPECT_NEAR(widths[1] / widths[0], 7.0 / 5, 0.01);
  EXPECT_EQ(widths.back(), 100);  // %; the longest bar is cut off, with a tear mark
  EXPECT_EQ(page.count("//path[@class='tear']"), 1u);
  const std::string floor = "//figure[@class='bars']//line[@class='floor']";
  ASSERT_EQ(page.count(floor), 1u);
  EXPECT_DOUBLE_EQ(page.numbers(floor, "x1")[0], widths[0]);
}

TEST(SatReport, SlowAlgorithmsLeaveRoomForTheOthers) {
  Json rows;
  for (const double us : {5.0, 10.0, 20.0, 50000.0})
    rows.push_back(sat_row(us == 5 ? "floor" : fmt::format("of_{}", us), 512, us));
  const Page page = page_of_rows(rows);
  const std::vector<double> y = page.numbers(ratio_points + "/use", "y");
  ASSERT_EQ(y.size(), 4u);  // the slowest first, which is the highest point
  EXPECT_LT(y[0], y[1]);
  EXPECT_NEAR(y[2] - y[1], y[3] - y[2], 0.2);  // two doublings, from 5 to 10 and to 20
  EXPECT_GT(y[2] - y[1], 20);
}

TEST(SatReport, NamesOfLinesThatMeetStandApart) {
  Json rows;
  for (int i = 0; i < 40; ++i) rows.push_back(sat_row(fmt::format("author_{}", i), 512, 20));
  rows.push_back(sat_row("slow", 512, 500));
  const Page page = page_of_rows(rows);
  const std::string names = "//g[starts-with(@class,'series')]/svg/text[not(@class)]";
  const std::vector<double> y = page.numbers(names, "y");
  ASSERT_EQ(y.size(), rows.size());
  const double height = page.numbers("//figure[@class='lines']//div/svg", "height")[0];
  EXPECT_GE(y.front(), 0);
  EXPECT_LE(y.back(), height);
  for (std::size_t i = 1; i < y.size(); ++i) EXPECT_GE(y[i] - y[i - 1], 12) << i;
}

// The algorithms of one author share a colour, but still look different from each other.
TEST(SatReport, AlgorithmsAreDistinguishedByTheirLooks) {
  Json rows;
  for (int author = 0; author < 12; ++author)
    for (int i = 0; i < 8; ++i)
      rows.push_back(sat_row(fmt::format("a{}_{}", author, i), 512, 20 + i));
  const Page page = page_of_rows(rows);
  std::map<std::string, std::string> classes;
  std::set<std::string> looks;
  for (const pugi::xpath_node& series : page.all("//g[starts-with(@class,'series')]")) {
    const std::string look = series.node().attribute("class").value();
    const pugi::xml_node mark = series.node().child("g");
    const std::string id = mark.child_value("title");
    const std::string color = look.substr(look.find(" c"), 3);
    EXPECT_EQ(classes.try_emplace(id.substr(0, id.find('_')), color).first->second, color) << id;
    looks.insert(look + mark.child("use").attribute("href").value());
  }
  EXPECT_EQ(looks.size(), rows.size());
}

TEST(SatReport, WhatIsMissingIsLeftOut) {
  const Page page =
      page_of_rows(Json{without_floor(sat_row("cpu_2r2w", 640, 812)), sat_row("floor", 640, 5),
                        failed_row("nehab_2011", 640, "too little memory"),
                        failed_row("nehab_2011", 9000, "far too little memory"),
                        Json{{"id", "npp_style"}, {"median_us", nullptr}}});
  EXPECT_EQ(page.count(ratio_points), 1u);
  EXPECT_EQ(page.count("//figure[@class='bars']"), 1u);
  EXPECT_EQ(page.count(bars), 3u);
  EXPECT_EQ(page.count(bars + "/rect"), 2u);
  EXPECT_TRUE(has(page.words(bars), "not measured"));
  EXPECT_TRUE(has(page.words(figures), "far too little memory"));
  EXPECT_TRUE(has(page.words("//p[@class='outcome']"), "2 could not be measured"));
}

TEST(SatReport, WithoutAFloorThereAreTimesAlone) {
  const Page page = page_of_rows(Json{without_floor(sat_row("cpu_2r2w", 640, 812)),
                                      without_floor(sat_row("cpu_4r1w", 640, 912))});
  EXPECT_EQ(page.count("//figure[@class='lines']"), 0u);
  EXPECT_EQ(page.count(bars), 2u);
  EXPECT_EQ(page.count("//line[@class='floor']"), 0u);
  EXPECT_EQ(page.words("//header").find("CUDA"), std::string::npos);
}

TEST(SatReport, WrongTablesAreReported) {
  Json rows = few_rows();
  EXPECT_EQ(page_of_rows(rows).text.find("WRONG"), std::string::npos);
  rows[4]["checked"] = false;
  const Page page = page_of_rows(rows);
  EXPECT_TRUE(has(page.words("//p[@class='outcome']"), "1 WRONG"));
  EXPECT_TRUE(has(page.words(figures), "WRONG"));
  EXPECT_EQ(page.count(ratio_points + "[@class='point wrong']"), 1u);
  EXPECT_TRUE(has(page.words(bars + "//tspan[@class='bad']"), "WRONG"));
}

TEST(SatReport, ARunWithoutRowsGivesAPage) {
  const Page page = page_of_rows(Json::array());
  EXPECT_EQ(page.count("//figure | //section"), 0u);
  EXPECT_TRUE(has(page.words("//header"), "No rows"));
}

Json with_value(Json row, double value, bool searched) {
  row["id"] = fmt::format("{}:{}", row["id"].get<std::string>(), value);
  row["value"] = value;
  if (searched) row["searched"] = true;
  return row;
}

TEST(SatReport, TimesAreDrawnAgainstAParameter) {
  Json rows = few_rows();
  for (const int side : {1024, 4096}) {
    rows.push_back(with_value(sat_row("author_2014", side, 20), 0.5, false));
    rows.push_back(with_value(sat_row("author_2014", side, 15), 0.75, true));
    rows.push_back(with_value(sat_row("author_2014", side, 30), 0, true));
  }
  const Page page = page_of_rows(rows);
  const std::string figure = "//figure[@class='scatter values']";
  const std::string line = "(" + figure + "//g[starts-with(@class,'series')])[1]";
  EXPECT_EQ(page.count(figure + "//g[starts-with(@class,'point')]"), 6u);
  EXPECT_EQ(page.count(figure + "//g[starts-with(@class,'series')]"), 2u);
  const auto x = page.numbers(line + "/g/use", "x"), y = page.numbers(line + "/g/use", "y");
  ASSERT_EQ(x.size(), 3u);  // 0, 0.5, 0.75
  EXPECT_NEAR((x[2] - x[1]) / (x[1] - x[0]), 0.5, 0.01);
  EXPECT_LT(y[0], y[1]);  // the slowest is the highest point
  EXPECT_LT(y[1], y[2]);
  const std::string key = page.words("//ul[@class='key']/li");
  EXPECT_TRUE(has(key, "1024×1024: 15.0 µs at value = 0.75"));
  // Values that were measured for this alone are in no other chart, but in the table.
  EXPECT_EQ(page.count(ratio_points), few_rows().size() + 2);
  EXPECT_EQ(page.count(bars), few_rows().size() + 2);
  EXPECT_EQ(page.count(figures), rows.size());
  EXPECT_EQ(page.count("//tr[@id='id-author_2014']"), 1u);
  for (const pugi::xpath_node& link : page.all("//td/a/@href | //th/a/@href"))
    EXPECT_EQ(page.count("//*[@id='" + std::string(link.attribute().value()).substr(1) + "']"), 1u);
}

TEST(SatReport, TheParameterIsNamed) {
  lab::Rows rows(2);
  for (lab::Row& row : rows) {
    row.id = "author_2014:0.5";
    row.width = row.height = 8;
    row.median_us = 3;
    row.value = &row == &rows[0] ? 0.5 : 1;
  }
  const std::string chart =
      lab::parameter_charts(rows, {{"author_2014", {"r", "what is read twice"}}});
  expect_words(chart, {"author_2014: time against r", "r, what is read twice", "µs at r = "});
}

TEST(SatReport, OneValueOfAParameterIsNoChart) {
  const Page page = page_of_rows(Json{with_value(sat_row("author_2014", 512, 20), 0.5, false)});
  EXPECT_EQ(page.count("//figure[@class='scatter values']"), 0u);
}

TEST(SatReport, ModelsAreComparedWhereThereAreAny) {
  Json rows = few_rows();
  for (const std::size_t i : {1u, 2u, 4u}) {
    rows[i]["model"] = "hmm";
    rows[i]["model_us"] = rows[i]["median_us"];
  }
  rows[2]["model_us"] = rows[2]["median_us"].get<double>() / 3;
  const Page page = page_of_rows(rows);
  EXPECT_EQ(page.count(model_points), 3u);
  // On the diagonal, x and y are the same fraction of the chart.
  const auto x = page.numbers(model_points + "/use", "x"),
             y = page.numbers(model_points + "/use", "y");
  const double height = page.numbers("//figure[@class='scatter']//svg", "height")[0];
  EXPECT_NEAR(x[0] / 100, 1 - y[0] / height, 1e-3);
  EXPECT_LT(x[2] / 100, 1 - y[2] / height - 0.05);
  EXPECT_TRUE(has(page.words("//section/p"), "3.00×, is that of kasagi_2014_4r1w at 1024×1024"));
  EXPECT_TRUE(has(page.words(figures), "hmm"));
}

TEST(SatReport, SpeedupsAreThoseOverOpenCvsStyle) {
  const std::string figure = "//figure[@class='lines speedups']";
  EXPECT_EQ(page_of_rows(few_rows()).count(figure), 0u);
  Json rows = few_rows();
  rows.push_back(sat_row("opencv_style", 4096, 370, 25));  // none at 1024
  rows.push_back(failed_row("nehab_2011", 4096, "too little memory"));
  for (const Json& one :
       Json{sat_row("opencv_style", 4096, 60), sat_row("facesat_lookback", 4096, 20)}) {
    rows.push_back(one);
    rows.back()["type"] = "32f32f";
  }
  const Page page = page_of_rows(rows);
  ASSERT_EQ(page.count(figure), 2u);
  const std::string of_u8 = "(" + figure + ")[1]", of_f32 = "(" + figure + ")[2]";
  EXPECT_EQ(page.count(of_u8 + "//g[starts-with(@class,'point')]"), 4u);
  EXPECT_EQ(page.count(of_f32 + "//g[starts-with(@class,'point')]"), 2u);
  // The fastest first: the floor, look-back, OpenCV's style itself, 4R1W.
  const std::string labels = "//g[starts-with(@class,'series')]/svg/text[@class='left muted']";
  std::vector<std::string> speedups;
  for (const pugi::xpath_node& label : page.all(of_u8 + labels))
    speedups.emplace_back(label.node().child_value());
  EXPECT_EQ(speedups, (std::vector<std::string>{"14.8×", "10.0×", "1.00×", "0.01×"}));
  EXPECT_TRUE(has(page.words(of_f32 + labels), "3.00×"));
  // The points of OpenCV's style are on the line of 1.
  EXPECT_EQ(page.numbers(of_f32 + "//line[@class='floor']", "y1")[0],
            page.numbers(of_f32 + "//g[starts-with(@class,'point')]/use", "y")[1]);
}

using SatReportOption = BenchTest;

TEST_F(SatReportOption, WritesThePage) {
  expect_report({"bench", "sat", "--algorithm", "cpu_2r2w", "--size", "64x32", "--runs", "2"},
                {"cpu_2r2w", "64×32", "--runs 2", "</html>"});
}

TEST_F(SatReportOption, FilesThatCannotBeWrittenAreFoundBeforeMeasuring) {
  for (const char* option : {"--report", "--json"})
    for (const char* file : {"missing/file", "."})
      expect_refused(
          run({"bench", "sat", "--algorithm", "cpu_2r2w", "--size", "64x32", option, file}),
          {file});
}

}  // namespace
}  // namespace facesat::test

// facesat bench filter: the contract of its output, and the page of its --report; the measured
// times are not checked here.
#include "lab/problems/filter.hpp"

#include <tuple>

#include <fmt/format.h>

#include "filters/cpu/filter.hpp"
#include "media/codec.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/lab/bench.hpp"

namespace facesat::test {
namespace {

class FilterBench : public BenchTest {
 protected:
  static Arguments filter(const Arguments& arguments) {
    return joined({"bench", "filter"}, arguments);
  }
  static Arguments filter_arguments(const std::string& name, const Arguments& arguments) {
    return joined({"bench", "filter", "--filter", name}, arguments);
  }
};

TEST_F(FilterBench, RowsOfTheCpuAreCheckedForEveryFilterAndBorder) {
  for (const std::string_view border : border_names)
    for (std::size_t i = 0; i < gpu::bench_filter_names.size(); ++i) {
      const Arguments ids = lab::cpu_filter_ids(static_cast<gpu::BenchFilter>(i));
      const std::string name(gpu::bench_filter_names[i]);
      Arguments arguments = filter({"--filter", name, "--border", std::string(border), "--radius",
                                    "2", "--radius", "5", "--size", "65x33"});
      for (const std::string& id : ids) arguments.insert(arguments.end(), {"--algorithm", id});
      std::vector<std::pair<std::string, int>> measured, expected;
      for (const int radius : {2, 5})
        for (const std::string& id : ids) expected.emplace_back(id, radius);
      for (const Json& row : checked_rows(arguments)) {
        measured.emplace_back(row["id"], row["radius"]);
        EXPECT_EQ(row["filter"], name);
        EXPECT_EQ(row["border"], border);
        EXPECT_EQ(row["width"], 65);
        EXPECT_EQ(row["height"], 33);
        EXPECT_GT(row["gb_per_s"], 0);
      }
      EXPECT_EQ(measured, expected);
    }
}

TEST_F(FilterBench, ConvolutionsHavePicturesOfEveryType) {
  for (std::size_t i = 0; i < gpu::bench_filter_names.size(); ++i) {
    const auto filter = static_cast<gpu::BenchFilter>(i);
    if (gpu::is_statistic(filter)) continue;
    const std::string name(gpu::bench_filter_names[i]);
    Arguments arguments = filter_arguments(name, {"--radius", "3", "--size", "65x33"});
    std::vector<std::string> measured, expected;
    for (const auto& [type, type_name] : gpu::picture_types) {
      arguments.insert(arguments.end(), {"--type", std::string(type_name)});
      for (const std::string& id : lab::cpu_filter_ids(filter, type)) {
        arguments.insert(arguments.end(), {"--algorithm", id});
        expected.push_back(std::string(type_name) + " " + id);
      }
    }
    for (const Json& row : checked_rows(arguments)) {
      measured.push_back(row["type"].get<std::string>() + " " + row["id"].get<std::string>());
      EXPECT_EQ(row["filter"], name);
    }
    EXPECT_EQ(measured, expected);
  }
}

// The bytes of a floor are those of the types.
TEST_F(FilterBench, BytesAreThoseOfTheTypes) {
  for (const auto& [type, filter, bytes] : std::vector<std::tuple<std::string, std::string, int>>{
           {"8u", "box", 2}, {"8u", "stencil", 5}, {"32s", "box", 8}, {"32f", "stencil", 8}})
    for (const Json& row :
         checked_rows(filter_arguments(filter, {"--type", type, "--radius", "1", "--size", "100x50",
                                                "--algorithm", "cpu_separable"}))) {
      const double us = row["median_us"], gb_per_s = row["gb_per_s"];
      EXPECT_NEAR(gb_per_s * us * 1000 / 5000, bytes, 0.01 * bytes);
    }
}

TEST_F(FilterBench, SignalsAreFilteredAlongTheirOnlyRow) {
  for (const char* name : {"stencil", "convolution-rows"}) {
    std::vector<int> widths;
    for (const Json& row : checked_rows(filter_arguments(
             name, {"--type", "8u", "--type", "32f", "--radius", "4", "--size", "2^17", "--size",
                    "100003", "--border", "wrap", "--algorithm", "cpu_direct"}))) {
      widths.push_back(row["width"]);
      EXPECT_EQ(row["height"], 1);
    }
    EXPECT_EQ(widths, (std::vector{1 << 17, 100003, 1 << 17, 100003}));
  }
}

// Their exact sums need fewer grey levels as windows grow: with the largest, 0 and 1.
TEST_F(FilterBench, LargeWindowsOfRealNumbersAreExact) {
  EXPECT_EQ(checked_rows(filter_arguments("box", {"--type", "32f", "--size", "9x5", "--radius",
                                                  "200", "--radius", "1450", "--algorithm",
                                                  "cpu_separable", "--algorithm", "cpu_direct"}))
                .size(),
            4u);
}

TEST_F(FilterBench, RadiiMayExceedThePicture) {
  const Finished done =
      run(filter({"--radius", "40", "--radius", "300", "--size", "7x1", "--runs", "1",
                  "--algorithm", "cpu_integral", "--algorithm", "cpu_direct"}));
  EXPECT_EQ(done.status, 0) << done.err << done.out;
}

TEST_F(FilterBench, TheStandardRadiiAreThoseOfTheFilter) {
  const auto radii = [&](const Arguments& chosen) {
    std::vector<int> measured;
    for (const Json& row :
         checked_rows(filter(joined({"--size", "20x20", "--algorithm", "cpu_separable"}, chosen))))
      measured.push_back(row["radius"]);
    return measured;
  };
  EXPECT_EQ(radii({}), (std::vector{1, 2, 3, 5, 7, 10, 15}));
  EXPECT_EQ(radii({"--filter", "sobel"}), (std::vector{1, 2, 3}));
}

TEST_F(FilterBench, AbsentRowsAreListedIfTheyAreAskedForByName) {
  const Arguments endless{"--radius", "1450", "--size", "100x100", "--runs", "1"};
  const Finished asked = run(filter(joined({"--algorithm", "cpu_direct"}, endless)));
  EXPECT_EQ(asked.status, 1);
  EXPECT_TRUE(has(asked.out, "a run has more than 68 billion operations"));
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(run(filter(joined({"--algorithm", "all", "--json", "t.json"}, endless))).status, 0);
  EXPECT_EQ(read_text("t.json").find("cpu_direct"), std::string::npos);
}

TEST_F(FilterBench, MistakesAreReportedInASentence) {
  write_text("foreign.html", "somebody else's");
  for (const auto& [arguments, said] : std::vector<std::pair<Arguments, std::string>>{
           {{"--filter", "median"},
            "--filter median: there is no such filter; known are box, gaussian, sobel, sobel-y, "
            "stencil, convolution-rows, convolution, variance, skewness, adaptive-threshold"},
           {{"--algorithm", "fastest"}, "there is no such algorithm of box; known are "},
           {{"--filter", "sobel", "--algorithm", "cpu_integral"},
            "there is no such algorithm of sobel; known are "},
           {{"--border", "replicate"}, "--border: expected clamp|mirror|reflect101|wrap|zero"},
           {{"--radius", "0"}, "--radius: expected a whole number of at least 1"},
           {{"--radius", "1.5"}, "--radius: expected a whole number of at least 1"},
           {{"--radius", "1451"}, "--radius 1451: filters have radii from 1 to 1450"},
           {{"--filter", "box", "--filter", "sobel", "--radius", "7"},
            "--radius 7: Sobel's derivatives have radii from 1 to 6"},
           {{"--size", "40000x10"}, "--size 40000x10: sides are from 1 to 32768"},
           {{"--size", "0x10"}, "from 1 to 32768"},
           {{"--size", "2^20"},
            "--size 2^20: signals are for --filter stencil and convolution-rows, not for box"},
           {{"--filter", "stencil", "--size", "2^29"},
            "--size 2^29: expected a number of elements from 1 to 2^28"},
           {{"--filter", "stencil", "--size", "1000", "--output", "o.png"},
            "--size 1000: --image and --output are for pictures"},
           {{"--type", "16u"}, "--type 16u: there is no such type; known are 8u, 32s, 32f"},
           {{"--filter", "box", "--filter", "variance", "--type", "32f"},
            "--type 32f: variance is for 8u only"},
           {{"--type", "32s", "--algorithm", "cpu_integral"},
            "there is no such algorithm of box; known are "},
           {{"--filter", "convolution", "--type", "32f", "--radius", "529"},
            "--radius 529: convolutions of 32f have radii from 1 to 528"},
           {{"--runs", "0"}, "--runs: expected a whole number"},
           {{"--image", "missing.png"}, "missing.png"},
           {{"--output", "o.png"}, "choose one --filter, --type, --radius and --size"},
           {{"--output", "o.jpg", "--radius", "1"}, ".png"},
           {{"--filter", "convolution", "--radius", "1450", "--output", "o.png"}, "too long"},
           {{"--report", "foreign.html"}, "foreign.html"},
           {{"--json", "t", "--report", "t"}, "--json and --report need different files"}})
    expect_refused(run(filter(arguments)), {said});
  EXPECT_EQ(read_text("foreign.html"), "somebody else's");
}

TEST_F(FilterBench, ResultsOfAPictureAreWritten) {
  const Image<std::uint8_t> gray = noise({40, 30}, 1);
  write_pgm("in.pgm", gray);
  const auto result = [&](const Arguments& chosen) {
    remove({"out.png"});
    const Finished done =
        run(filter(joined({"--image", "in.pgm", "--output", "out.png", "--runs", "1"}, chosen)));
    EXPECT_EQ(done.status, 0) << done.err;
    return read_picture(path("out.png"));
  };
  // A mean is written as it is.
  Image<std::uint8_t> mean(gray.size());
  cpu::direct_box_mean(gray.view(), {1, 1}, Border::reflect101, mean.view());
  const Picture means = result({"--filter", "box", "--radius", "1"});
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) ASSERT_EQ(means.pixels.row(y)[x].b, mean.row(y)[x]);
  // Others reach from black to white.
  for (const char* name : {"sobel-y", "skewness"}) {
    const Picture picture = result({"--filter", name, "--radius", "2", "--size", "33x20"});
    EXPECT_EQ(picture.pixels.size, (Size{33, 20}));
    int least = 255, greatest = 0;
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 33; ++x) {
        least = std::min<int>(least, picture.pixels.row(y)[x].b);
        greatest = std::max<int>(greatest, picture.pixels.row(y)[x].b);
      }
    EXPECT_EQ(least, 0) << name;
    EXPECT_EQ(greatest, 255) << name;
  }
  write_text("foreign.png", "somebody else's");
  expect_refused(run(filter({"--output", "foreign.png", "--radius", "1", "--size", "9x9"})),
                 {"foreign.png"});
}

TEST_F(FilterBench, WithoutAGpuOnlyTheCpuIsMeasured) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const Finished all = run(filter({"--size", "9x9", "--radius", "1", "--runs", "1"}));
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_TRUE(has(all.err, "GPU algorithms are left out: "));
  EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 4) << all.out;
  expect_refused(run(filter({"--algorithm", "integral_box"})),
                 {"--algorithm integral_box needs a GPU: "});
}

TEST_F(FilterBench, ReportIsWritten) {
  expect_report(filter({"--size", "20x30", "--radius", "1", "--radius", "4", "--runs", "1",
                        "--algorithm", "cpu_integral"}),
                {"cpu_integral", "20×30", "facesat bench filter", "all threads", "</html>"});
}

// A row as `bench filter --json` writes it.
Json filter_row(const std::string& id, int radius, double us, double floor_us = 5) {
  Json row = row_of(id,
                    {{"filter", "box"},
                     {"type", "8u"},
                     {"radius", radius},
                     {"border", "wrap"},
                     {"width", 640},
                     {"height", 480},
                     {"gb_per_s", 100 / us}},
                    us, floor_us);
  if (id == "floor") return row;
  row["reads"] = 10.0 * radius;
  row["launches"] = 1;
  if (id == "peer_npp") row.erase("checked");
  return row;
}

// Rows of an algorithm whose time at radii 1, 3 and 9 are these.
Json rows_of(const std::string& id, double at_1, double at_3, double at_9) {
  return {filter_row(id, 1, at_1), filter_row(id, 3, at_3), filter_row(id, 9, at_9)};
}

// The page of the rows of these lists.
Page page_of_lists(const Json& lists) {
  Json rows = Json::array();
  for (const Json& list : lists)
    for (const Json& one : list) rows.push_back(one);
  return {*problem_named("filter"), rows, {{"cores", 52}}, "facesat bench filter"};
}

std::vector<std::string> sentences(const Page& page) {
  return page.texts("//ul[@class='comparisons']/li");
}

TEST(FilterReport, ShowsEveryRow) {
  const Page page =
      page_of_lists(Json{rows_of("floor", 5, 5, 5), rows_of("integral_box", 30, 30, 31),
                         rows_of("lecture_2d_naive", 20, 80, 2000)});
  EXPECT_EQ(page.count("//link | //img | //@src"), 0u);
  const std::string chart = "//figure[@class='scatter radii']";
  EXPECT_EQ(page.count(chart + "//g[starts-with(@class,'point')]"), 9u);
  EXPECT_EQ(page.count(chart + "//g[starts-with(@class,'series ref')]"), 1u);  // the floor
  EXPECT_EQ(page.texts("//ul[@class='key']/li"),
            (std::vector<std::string>{"lecture_2d_naive: 2\u202f000 µs", "integral_box: 31.0 µs",
                                      "floor: 5.00 µs"}));
  // Both axes are logarithmic: the radii 1, 3 and 9 are equally far apart.
  const auto x = page.numbers("(" + chart + "//g[starts-with(@class,'series')])[1]/g/use", "x");
  ASSERT_EQ(x.size(), 3u);
  EXPECT_NEAR(x[2] - x[1], x[1] - x[0], 0.05);
  const auto y = page.numbers("(" + chart + "//g[starts-with(@class,'series')])[1]/g/use", "y");
  EXPECT_GT(y[0], y[1]);  // the slowest is the highest point
  // Medians and reads over the radii, then all figures.
  EXPECT_EQ(page.texts("(//table[@class='radii'])[1]//th[@scope='col']"),
            (std::vector<std::string>{"radius", "1", "3", "9"}));
  EXPECT_EQ(page.texts("(//table[@class='radii'])[1]//b"),
            (std::vector<std::string>{"30.00", "31.00", "20.00"}));
  EXPECT_EQ(page.texts("(//table[@class='radii'])[2]//td"),
            (std::vector<std::string>{"10.00", "30.00", "90.00", "10.00", "30.00", "90.00"}));
  EXPECT_EQ(page.count("//section[not(@id)]//table[not(@class)]//tr[th[@scope='row']]"), 9u);
  EXPECT_EQ(page.count("//section[@id='algorithms']//tbody/tr"), 3u);
  for (const std::string& link : page.texts("//h2/small")) EXPECT_EQ(link, "640×480, border wrap");
}

TEST(FilterReport, SaysFromWhichRadiusOnTheIntegralImageIsFaster) {
  const Page page = page_of_lists(
      Json{rows_of("integral_box", 30, 31, 32), rows_of("facesat_box", 40, 30.5, 40),
           rows_of("lecture_2d_naive", 20, 80, 2000), rows_of("lecture_2d_pitched", 25, 60, 1500),
           rows_of("lecture_separable", 21, 25, 50), rows_of("facesat_separable", 20, 24, 28),
           rows_of("peer_npp", 90, 90, 90)});
  EXPECT_EQ(
      sentences(page),
      (std::vector<std::string>{
          "The box from an integral image is faster than the fastest direct convolution from "
          "radius 3 on. At radius 9, integral_box takes 32.0 µs, and lecture_2d_pitched 1\u202f500 "
          "µs.",
          "The box from an integral image is not faster than the fastest separable convolution at "
          "any radius from 1 to 9. At radius 9, integral_box takes 32.0 µs, and facesat_separable "
          "28.0 µs.",
          "The box from an integral image is faster than NPP at every radius from 1 to 9. At "
          "radius 9, integral_box takes 32.0 µs, and peer_npp 90.0 µs.",
          "The fastest separable convolution is faster than the fastest direct convolution from "
          "radius 3 on. At radius 9, facesat_separable takes 28.0 µs, and lecture_2d_pitched "
          "1\u202f500 µs."}));
}

TEST(FilterReport, SentencesNeedRowsOfBoth) {
  EXPECT_TRUE(sentences(page_of_lists(Json{rows_of("integral_box", 30, 31, 32)})).empty());
  Json wrong = rows_of("lecture_2d_naive", 20, 80, 2000);
  for (Json& one : wrong) one["checked"] = false;
  const Page page = page_of_lists(Json{rows_of("integral_box", 30, 31, 32), wrong});
  EXPECT_TRUE(sentences(page).empty());
  EXPECT_TRUE(has(page.text, "WRONG"));
  // Radii at which both were measured.
  Json partial = rows_of("lecture_2d_naive", 20, 80, 2000);
  partial.erase(2);
  EXPECT_EQ(sentences(page_of_lists(Json{rows_of("integral_box", 30, 31, 32), partial})),
            (std::vector<std::string>{
                "The box from an integral image is faster than the fastest direct convolution from "
                "radius 3 on. At radius 3, integral_box takes 31.0 µs, and lecture_2d_naive 80.0 "
                "µs."}));
  EXPECT_EQ(sentences(page_of_lists(Json{rows_of("cpu_integral", 30, 31, 32),
                                         rows_of("cpu_separable", 40, 31, 40),
                                         rows_of("cpu_direct", 40, 31, 20)})),
            (std::vector<std::string>{
                "On the CPU, the integral image is faster than the separable convolution from "
                "radius 9 on. At radius 9, cpu_integral takes 32.0 µs, and cpu_separable 40.0 µs.",
                "On the CPU, the integral image is faster than the direct computation only at "
                "radius 1. At radius 9, cpu_integral takes 32.0 µs, and cpu_direct 20.0 µs."}));
}

TEST(FilterReport, OneRadiusIsShownAsBars) {
  const Page page =
      page_of_lists(Json{{filter_row("floor", 4, 5), filter_row("integral_box", 4, 30),
                          filter_row("peer_npp", 4, 20)}});
  EXPECT_EQ(page.count("//figure[@class='bars']//g[starts-with(@class,'bar')]"), 3u);
  EXPECT_EQ(page.count("//figure[@class='scatter radii']"), 0u);
  EXPECT_EQ(sentences(page),
            (std::vector<std::string>{"The box from an integral image is not faster than NPP at "
                                      "radius 4. At radius 4, integral_box takes 30.0 µs, and "
                                      "peer_npp 20.0 µs."}));
}

// An algorithm that computes only a part of the result is no rival.
TEST(FilterReport, PartsOfTheResultAreNotCompared) {
  Json part = rows_of("lecture_2d_valid", 1, 1, 1);
  for (Json& one : part) one["valid_part"] = true;
  const Page page = page_of_lists(Json{rows_of("integral_box", 30, 31, 32), part});
  EXPECT_TRUE(sentences(page).empty());
  EXPECT_EQ(page.texts("(//table[@class='radii'])[1]//b"),
            (std::vector<std::string>{"30.00", "31.00", "32.00"}));
  EXPECT_EQ(page.count("//figure[@class='scatter radii']//g[starts-with(@class,'point')]"), 6u);
}

TEST(FilterReport, FiltersTypesAndSizesHaveSectionsOfTheirOwn) {
  Json other = rows_of("cpu_direct", 1, 2, 3), larger = rows_of("cpu_direct", 4, 8, 12),
       real = rows_of("cpu_direct", 1, 2, 4);
  for (Json& one : other) one["filter"] = "variance";
  for (Json& one : larger) one["width"] = 1280;
  for (Json& one : real) one["type"] = "32f";
  Json failed = filter_row("integral_box", 1, 1);
  for (const char* key : {"median_us", "min_us", "p95_us", "checked"}) failed.erase(key);
  failed["failure"] = "too little memory";
  const Page page =
      page_of_lists(Json{rows_of("cpu_direct", 1, 2, 3), other, larger, real, {failed}});
  EXPECT_EQ(page.texts("//section[not(@id)]/h2"),
            (std::vector<std::string>{"box 8u ", "variance 8u ", "box 8u ", "box 32f "}));
  EXPECT_TRUE(has(page.text, "too little memory"));
}

TEST(FilterReport, ARunWithoutRowsGivesAPage) {
  EXPECT_EQ(page_of_lists(Json::array()).count("//figure | //section"), 0u);
}

}  // namespace
}  // namespace facesat::test

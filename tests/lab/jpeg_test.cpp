// facesat bench jpeg: the contract of its output, and the page of its --report; the measured times
// are not checked here.
#include <fmt/format.h>

#include "media/codec.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/lab/bench.hpp"

namespace facesat::test {
namespace {

class JpegBench : public BenchTest {
 protected:
  JpegBench() {
    write_picture(path("face.jpg"), coloured(drawn_faces({200, 130}).view()).view());
    write_text("text.jpg", "no picture");
  }
  static Arguments jpeg(const Arguments& arguments) { return joined({"bench", "jpeg"}, arguments); }
};

TEST_F(JpegBench, RowsOfTheCpuAreCheckedForEveryPicture) {
  Arguments measured;
  for (const Json& row :
       checked_rows(jpeg({"--algorithm", "cpu_serial", "--algorithm", "cpu_threads", "--size",
                          "1x1", "--image", path("face.jpg"), "--size", "65x33"}))) {
    measured.push_back(fmt::format("{} {} {}x{}", row["id"].get<std::string>(),
                                   row["picture"].get<std::string>(), row["width"].get<int>(),
                                   row["height"].get<int>()));
    EXPECT_GT(row["gb_per_s"], 0);
    EXPECT_GT(row["file_bytes"], 100);
  }
  const Arguments expected{"cpu_serial face.jpg 200x130", "cpu_threads face.jpg 200x130",
                           "cpu_serial made 1x1",         "cpu_threads made 1x1",
                           "cpu_serial made 65x33",       "cpu_threads made 65x33"};
  EXPECT_EQ(measured, expected);
}

TEST_F(JpegBench, MistakesAreReportedInASentence) {
  for (const auto& [arguments, said] : std::vector<std::pair<Arguments, std::string>>{
           {{"--size", "40000x10"}, "from 1 to 32768"},
           {{"--image", path("none.jpg")}, "no such file"},
           {{"--image", path("text.jpg")}, "this JPEG cannot be decoded"},
           {{"--algorithm", "gpu"},
            "known are coefficients, pixels, file, files, nvjpeg, cpu_serial, cpu_threads"}})
    expect_refused(run(jpeg(arguments)), {arguments[0], said});
}

TEST_F(JpegBench, WithoutAGpuOnlyTheCpuIsMeasured) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const Finished all = run(jpeg({"--size", "9x9", "--runs", "1", "--json", "j.json"}));
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_TRUE(has(all.err, "GPU algorithms are left out: "));
  EXPECT_EQ(table("j.json")["rows"].size(), 2u);
  expect_refused(run(jpeg({"--algorithm", "pixels"})), {"--algorithm pixels needs a GPU: "});
}

TEST_F(JpegBench, ReportIsWritten) {
  expect_report(jpeg({"--algorithm", "cpu_serial", "--size", "20x30", "--runs", "1"}),
                {"cpu_serial", "20×30", "libjpeg-turbo", "facesat bench jpeg", "</html>"});
}

}  // namespace
}  // namespace facesat::test

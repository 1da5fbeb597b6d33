// facesat bench tasks: the contract of its output, its halftones, and the page of its --report; the
// measured times are not checked here.
#include "lab/problems/tasks.hpp"

#include <cstdlib>

#include "media/codec.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/lab/bench.hpp"

namespace facesat::test {
namespace {

class TasksBench : public BenchTest {
 protected:
  static Arguments tasks(const Arguments& arguments) {
    return joined({"bench", "tasks"}, arguments);
  }
};

TEST_F(TasksBench, RowsOfTheCpuAreCheckedForEveryProblem) {
  for (const auto& [problem, size, ids] :
       std::vector<std::tuple<std::string, std::string, Arguments>>{
           {"knapsack", "37x500", {"cpu_serial", "cpu_threads"}},
           {"error-diffusion", "65x33", {"cpu_collection", "cpu_diffusion"}},
           {"sat", "65x33", {"cpu_4r1w"}}}) {
    Arguments arguments = tasks({"--problem", problem, "--size", size});
    for (const std::string& id : ids) arguments.insert(arguments.end(), {"--schedule", id});
    Arguments measured;
    for (const Json& row : checked_rows(arguments, {{"problem", problem}})) {
      measured.push_back(row["id"]);
      EXPECT_EQ(row[problem == "knapsack" ? "items" : "width"], problem == "knapsack" ? 37 : 65);
      EXPECT_EQ(row[problem == "knapsack" ? "capacity" : "height"],
                problem == "knapsack" ? 500 : 33);
    }
    EXPECT_EQ(measured, ids);
  }
}

TEST_F(TasksBench, MistakesAreReportedInASentence) {
  write_text("foreign.png", "somebody else's");
  for (const auto& [arguments, said] : std::vector<std::pair<Arguments, std::string>>{
           {{"--size", "10x10"}, "choose one with --problem"},
           {{"--problem", "tsp"}, "known are knapsack, error-diffusion, sat, all"},
           {{"--problem", "knapsack", "--size", "100"}, "expected ITEMSxCAPACITY"},
           {{"--problem", "knapsack", "--size", "0x5"}, "expected ITEMSxCAPACITY"},
           {{"--problem", "knapsack", "--size", "5x1073741824"}, "1073741823"},
           {{"--problem", "sat", "--size", "40000x10"}, "from 1 to 32768"},
           {{"--problem", "sat", "--schedule", "cpu_serial"},
            "there is no such schedule; known are "},
           {{"--problem", "knapsack", "--output", "h.png"}, "for --problem error-diffusion alone"},
           {{"--output", "h.jpg"}, ".png"},
           {{"--output", "foreign.png"}, "foreign.png"},
           {{"--output", "h.png", "--json", "h.png"}, "need different files"},
           {{"--image", "missing.png"}, "missing.png"},
           {{"--rule", "64f"}, "expected 32f|integer"},
           {{"--output", "h.png", "--size", "9x9", "--size", "8x8"}, "several are given"}})
    expect_refused(run(tasks(arguments)), {said});
  EXPECT_EQ(read_text("foreign.png"), "somebody else's");
}

TEST_F(TasksBench, WithoutAGpuOnlyTheCpuIsMeasured) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const Finished all = run(tasks({"--problem", "sat", "--size", "9x9", "--runs", "1"}));
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_TRUE(has(all.err, "GPU schedules are left out: "));
  expect_refused(run(tasks({"--schedule", "skss_warps"})), {"--schedule skss_warps needs a GPU: "});
}

// The halftone of a picture with whole numbers is what Pillow makes of it.
TEST_F(TasksBench, HalftoneIsThatOfPillow) {
  if (std::system("/usr/bin/python3 -c 'import PIL' 2>/dev/null") != 0)
    GTEST_SKIP() << "there is no Pillow (python3-pil)";
  write_picture(folder / "in.png", coloured(noise({201, 77}, 4).view()).view());
  const Finished done = run(tasks({"--image", "in.png", "--rule", "integer", "--output", "out.png",
                                   "--runs", "1", "--schedule", "cpu_collection"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const std::string compare = "cd '" + folder.string() +
                              "' && /usr/bin/python3 -c \""
                              "from PIL import Image as I; "
                              "a = I.open('in.png').convert('L').convert('1').convert('L'); "
                              "b = I.open('out.png').convert('L'); "
                              "exit(a.size != b.size or a.tobytes() != b.tobytes())\"";
  EXPECT_EQ(std::system(compare.c_str()), 0);
  // Its own output is replaced.
  EXPECT_EQ(run(tasks({"--size", "64x64", "--output", "out.png", "--runs", "1", "--schedule",
                       "cpu_collection"}))
                .status,
            0);
  EXPECT_EQ(read_picture(folder / "out.png").pixels.size.width, 64);
}

TEST_F(TasksBench, ReportIsWritten) {
  expect_report(tasks({"--problem", "knapsack", "--size", "20x300", "--runs", "1", "--schedule",
                       "cpu_serial"}),
                {"cpu_serial", "20×300", "facesat bench tasks", "</html>"});
}

// A row as `bench tasks --json` writes it.
Json task_row(const std::string& id, int side, double us, double floor_us) {
  return row_of(
      id, {{"problem", "error-diffusion"}, {"rule", "32f"}, {"width", side}, {"height", side}}, us,
      floor_us);
}

TEST(TaskReport, ShowsEveryRow) {
  const Json rows{task_row("floor", 512, 5, 5), task_row("skss_warps", 512, 15, 5),
                  task_row("steps", 512, 30, 5), task_row("steps:4", 512, 20, 5)};
  const Page page(*problem_named("tasks"), rows, {{"cores", 52}}, "facesat bench tasks --runs 5");
  const auto count = [&](const char* path) { return page.count(path); };
  EXPECT_EQ(count("//section[not(@id)]//table//tr[th[@scope='row']]"), rows.size());
  EXPECT_EQ(count("//figure[@class='bars']//g[starts-with(@class,'bar')]"), rows.size());
  EXPECT_EQ(count("//section[@id='algorithms']//tbody/tr"),
            3u);  // the two kinds of steps share one
  page.expect_links();
}

TEST(KnapsackProblem, AboutHalfOfTheItemsAreTaken) {
  const gpu::KnapsackCase one = lab::knapsack_case(400, 5000);
  const gpu::KnapsackTable table = gpu::knapsack_table(one.values, one.weights, one.capacity);
  const auto chosen = gpu::knapsack_choice(table.taken, one.weights, 5000);
  const auto taken = std::count(chosen.begin(), chosen.end(), 1);
  EXPECT_GT(taken, 200);
  EXPECT_LT(taken, 350);
}

}  // namespace
}  // namespace facesat::test

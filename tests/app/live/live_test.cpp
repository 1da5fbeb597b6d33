// What the threads of the window are made of, the times that it shows, and the files that it saves.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include "app/live/detection/detection.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/gui/picture_view.hpp"
#include "app/live/saving.hpp"
#include "app/live/threads.hpp"
#include "support/errors.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"

namespace facesat::app {
namespace {

using namespace std::chrono_literals;
using test::eventually;

TEST(Mailbox, KeepsTheNewest) {
  Mailbox<int> box;
  EXPECT_FALSE(box.take());
  box.put(1);
  box.put(2);
  EXPECT_EQ(box.take(), 2);
  EXPECT_FALSE(box.take());
}

TEST(GuardedThread, ContinuesAfterAnyException) {
  std::mutex mutex;
  std::vector<std::string> reasons;
  std::atomic<int> steps = 0;
  const GuardedThread thread(
      [&](const std::stop_token&) {
        switch (++steps) {
          case 1:
            throw UsageError("a sentence");
          case 2:
            throw std::bad_alloc();
          case 3:
            throw 3;
          case 4:
            throw std::filesystem::filesystem_error("status", std::make_error_code(std::errc(2)));
          default:
            std::this_thread::sleep_for(1ms);
        }
      },
      [&](const std::string& reason) {
        const std::scoped_lock lock(mutex);
        reasons.push_back(reason);
        throw std::bad_alloc();  // not even this ends the thread
      });
  EXPECT_TRUE(eventually([&] { return steps > 5; }));
  const std::scoped_lock lock(mutex);
  ASSERT_EQ(reasons.size(), 4u);
  EXPECT_EQ(reasons[0], "a sentence");
  EXPECT_EQ(reasons[1], "there is not enough memory");
  EXPECT_EQ(reasons[2], "an error of unknown kind");
  EXPECT_NE(reasons[3].find("status"), std::string::npos);
}

TEST(Shrink, FactorsAreWholeAndJustEnough) {
  EXPECT_EQ(shrink_factor({0, 0}, 100), 1);
  EXPECT_EQ(shrink_factor({100, 1}, 100), 1);
  EXPECT_EQ(shrink_factor({101, 1}, 100), 2);
  EXPECT_EQ(shrink_factor({7, 200}, 100), 2);
  EXPECT_EQ(shrink_factor({7, 201}, 100), 3);
}

TEST(Shrink, PixelsAreMeansOfWhatIsThere) {
  const auto picture = test::formula<Bgr>({5, 3}, [](int x, int y) {
    return Bgr{static_cast<std::uint8_t>(10 * x), static_cast<std::uint8_t>(100 * y), 255};
  });
  const Image<Bgr> half = shrink(picture.view(), 2);
  ASSERT_EQ(half.size(), (Size{3, 2}));
  EXPECT_EQ(half.row(0)[0].b, 5);
  EXPECT_EQ(half.row(0)[1].b, 25);
  EXPECT_EQ(half.row(0)[2].b, 40);  // one column is left
  EXPECT_EQ(half.row(0)[2].g, 50);
  EXPECT_EQ(half.row(1)[0].g, 200);  // one row is left
  EXPECT_EQ(half.row(1)[2].r, 255);
}

TEST(History, RatesAndQuantiles) {
  History history;
  EXPECT_EQ(history.frames_per_second(), 0);
  EXPECT_EQ(history.latency_quantile(0.5), 0);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    Sample sample;
    sample.latency_ms = i % 100 + 1;
    sample.ms[1] = 7;
    sample.shown = begin + i * 20ms;
    history.add(sample, {});
  }
  EXPECT_EQ(history.samples().size(), History::most);
  EXPECT_NEAR(history.frames_per_second(), 50, 1);
  EXPECT_EQ(history.latency_quantile(0.5), 50);
  EXPECT_EQ(history.latency_quantile(0.95), 95);
  EXPECT_EQ(history.latency_quantile(1), 100);
  EXPECT_EQ(history.step(1).ms, 7);
}

TEST(History, BytesAndFloorsAreThoseOfTheSampleThatHasTheTime) {
  History history;
  for (const double scale : {1, 2, 4}) {  // pictures of growing size, all at 10 GB/s
    Sample sample;
    sample.ms[live_step(Step::sat)] = scale;
    sample.bytes[live_step(Step::sat)] = scale * 1e7;
    sample.floor_ms[live_step(Step::sat)] = scale / 4;
    history.add(sample, {});
  }
  EXPECT_DOUBLE_EQ(history.step(live_step(Step::sat)).ms, 2);
  EXPECT_DOUBLE_EQ(history.step(live_step(Step::sat)).bytes_per_s, 1e10);
  EXPECT_DOUBLE_EQ(history.step(live_step(Step::sat)).floors, 4);
  EXPECT_EQ(history.step(3).bytes_per_s, 0);  // nothing is known of this step
  EXPECT_EQ(history.step(3).floors, 0);
}

TEST(History, KernelsOfAStepByName) {
  History history;
  const auto add = [&](double ms) {
    Sample sample;
    if (ms > 0)
      sample.kernels = {{Step::resize, "resize", 9},
                        {Step::sat, "rows", ms},
                        {Step::sat, "columns", 2 * ms},
                        {Step::sat, "rows", 3 * ms}};
    history.add(sample, {});
  };
  const std::size_t sat = live_step(Step::sat);
  EXPECT_TRUE(history.kernels(sat).empty());
  for (const double ms : {0.0, 5.0, 1.0, 2.0}) add(ms);  // the first was not measured
  const std::vector<History::KernelSummary> kernels = history.kernels(sat);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "rows");
  EXPECT_EQ(kernels[0].launches, 2);
  EXPECT_EQ(kernels[0].ms, 8);  // the median of 20, 4, 8
  EXPECT_EQ(kernels[1].name, "columns");
  EXPECT_EQ(kernels[1].launches, 1);
  EXPECT_EQ(kernels[1].ms, 4);
  EXPECT_TRUE(history.kernels(0).empty());                    // capture
  EXPECT_TRUE(history.kernels(live_step_count - 1).empty());  // draw
  EXPECT_TRUE(history.kernels(live_step_count + 1).empty());  // of a filter
  add(0);                                                     // no longer measured
  EXPECT_TRUE(history.kernels(sat).empty());
}

TEST(History, ANewSubjectBeginsANewHistory) {
  History history;
  Sample slow, fast;
  slow.detect_ms = 100;
  fast.detect_ms = 1;
  const Subject video{1, 1, {640, 480}};
  for (const Subject& other :
       {Subject{2, 1, {640, 480}}, Subject{1, 2, {640, 480}}, Subject{1, 1, {320, 240}}}) {
    for (int i = 0; i < 10; ++i) history.add(slow, video);
    EXPECT_EQ(history.detect_quantile(0.5), 100);
    history.add(fast, other);
    EXPECT_EQ(history.samples().size(), 1u);
    EXPECT_EQ(history.detect_quantile(0.5), 1);
  }
}

TEST(History, FailedAndRepeatedFramesHaveNoTimesToShow) {
  History history;
  Sample fresh, failed, again;
  fresh.detect_ms = again.detect_ms = 5;
  fresh.latency_ms = 8;
  failed.failed = true;
  for (const Sample& sample : {fresh, failed, failed, again}) history.add(sample, {});
  EXPECT_EQ(history.samples().size(), 2u);
  EXPECT_EQ(history.detect_quantile(0), 5);
  EXPECT_EQ(history.latency_quantile(0), 8);
  EXPECT_EQ(history.latency_quantile(1), 8);
}

TEST(History, TimesAsCsv) {
  Sample sample, failed;
  sample.ms[live_step(Step::sat)] = 1.5;
  sample.faces = 4;
  sample.latency_ms = 2;
  failed.failed = true;
  const std::string csv = times_csv({sample, failed});
  EXPECT_EQ(
      csv,
      "frame,capture_ms,decode_ms,upload_ms,gray_ms,resize_ms,sat_ms,evaluate_ms,download_ms,group_"
      "ms,"
      "draw_ms,"
      "detect_ms,latency_ms,windows,faces\n"
      "0,0.0000,0.0000,0.0000,0.0000,0.0000,1.5000,0.0000,0.0000,0.0000,0.0000,0.0000,2.0000,0,4\n"
      "1,,,,,,,,,,,,,0,0\n");
  EXPECT_TRUE(is_times_csv(csv));
}

class SavingTest : public test::ProgramTest {
 protected:
  std::string said() { return toasts.shown(Toasts::Clock::now()).back().text; }

  Outputs outputs{{"--screenshot", ""}, {"--times", ""}, {"--record", ""}, {}};
  Detection detection{LiveSettings()};
  Toasts toasts;
  Saving saving{"", outputs, detection, toasts};
};

TEST_F(SavingTest, FilesAreNamedWithTheirFullPath) {
  saving.attempt([] { return "shot.png"; });
  EXPECT_EQ(said(), "saved: " + (std::filesystem::current_path() / "shot.png").string());
  saving.attempt([&] { return path("p/../shot.png"); });
  EXPECT_EQ(said(), "saved: " + path("shot.png"));
  EXPECT_TRUE(saving.failures().empty());
}

TEST_F(SavingTest, TimesAreInANewFileThatIsNamed) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  saving.save_times(History());
  std::filesystem::current_path(before);
  ASSERT_EQ(files_below(".").size(), 1u);
  EXPECT_EQ(said(), "saved: " + path(files_below(".").front()));
}

TEST_F(SavingTest, EveryFailureIsKept) {
  saving.attempt([]() -> std::string { throw OutputError("a.png: No space left on device"); });
  EXPECT_EQ(said(), "a.png: No space left on device");
  saving.attempt([] { return "b.csv"; });
  saving.write_times(path("no/such/t.csv"), {});
  ASSERT_EQ(saving.failures().size(), 2u);
  EXPECT_EQ(saving.failures()[0], "a.png: No space left on device");
  EXPECT_NE(saving.failures()[1].find(path("no/such/t.csv")), std::string::npos);
}

}  // namespace
}  // namespace facesat::app

// The times that the window shows: what may be averaged, and what is left out.
#include "app/live/detection/history.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace facesat::app {
namespace {

using namespace std::chrono_literals;

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
    sample.ms[4] = scale;
    sample.bytes[4] = scale * 1e7;
    sample.floor_ms[4] = scale / 4;
    history.add(sample, {});
  }
  EXPECT_DOUBLE_EQ(history.step(4).ms, 2);
  EXPECT_DOUBLE_EQ(history.step(4).bytes_per_s, 1e10);
  EXPECT_DOUBLE_EQ(history.step(4).floors, 4);
  EXPECT_EQ(history.step(3).bytes_per_s, 0);  // nothing is known of this step
  EXPECT_EQ(history.step(3).floors, 0);
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
  sample.ms[4] = 1.5;
  sample.faces = 4;
  sample.latency_ms = 2;
  failed.failed = true;
  const std::string csv = times_csv({sample, failed});
  EXPECT_EQ(csv,
            "frame,capture_ms,upload_ms,gray_ms,resize_ms,sat_ms,evaluate_ms,download_ms,group_ms,"
            "draw_ms,"
            "detect_ms,latency_ms,windows,faces\n"
            "0,0.0000,0.0000,0.0000,0.0000,1.5000,0.0000,0.0000,0.0000,0.0000,0.0000,2.0000,0,4\n"
            "1,,,,,,,,,,,,0,0\n");
  EXPECT_TRUE(is_times_csv(csv));
}

}  // namespace
}  // namespace facesat::app

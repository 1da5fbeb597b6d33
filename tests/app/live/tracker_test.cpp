// An object that is followed: from frame to frame, by the detection thread, in its panel, and in
// the real window.
#include "app/live/detection/tracker.hpp"

#include "app/live/detection/detection.hpp"
#include "app/live/panels/panel.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/app/live/window_test.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::app {
namespace {

using test::next_result;
using test::result_of;
using test::result_with;

constexpr Size object_size{24, 20};

constexpr std::uint8_t ground = 60;

// Bright noise on a darker ground.
Image<Bgr> picture_with_object(Size size, int x, int y) {
  const Image<std::uint8_t> object = test::noise(object_size, 7, 128);
  Image<std::uint8_t> gray = test::flat(size, ground);
  copy(object.view(), gray.view().sub({x, y, object_size.width, object_size.height}));
  return test::coloured(gray.view());
}

CapturedFrame frame_with_object(std::uint64_t posted, int x, int y, Size size = {160, 120}) {
  CapturedFrame frame;
  const auto picture = std::make_shared<Image<Bgr>>(picture_with_object(size, x, y));
  frame.picture = {.pixels = picture->view(), .owner = picture, .warning = {}};
  frame.posted = posted;
  frame.sequence = frame.source = 1;
  return frame;
}

MarkedObject object_at(const CapturedFrame& frame, int x, int y) {
  return mark(frame, {x, y, object_size.width, object_size.height});
}

TEST(Tracker, FollowsAnObject) {
  Tracker tracker;
  const CapturedFrame first = frame_with_object(1, 30, 40);
  EXPECT_FALSE(tracker.find(first, {}));
  tracker.follow(object_at(first, 30, 40));
  std::optional<Track> track = tracker.find(first, {});  // where it was marked
  ASSERT_TRUE(track);
  EXPECT_EQ(track->box, (Rect{30, 40, 24, 20}));
  EXPECT_EQ(track->ms, 0);
  EXPECT_EQ(track->percent(), 100);
  std::uint64_t posted = 1;
  for (const auto& [x, y] : {std::pair(40, 30), {30, 46}, {20, 50}, {5, 60}, {0, 70}, {1, 71}}) {
    track = tracker.find(frame_with_object(++posted, x, y), {});
    ASSERT_TRUE(track);
    EXPECT_EQ(track->box, (Rect{x, y, 24, 20}));
    EXPECT_EQ(track->percent(), 100);
    EXPECT_GT(track->ms, 0);
    EXPECT_EQ(track->match, track->object);
  }
  tracker.follow(std::nullopt);
  EXPECT_FALSE(tracker.find(first, {}));
  EXPECT_EQ(tracker.why_ended(), "");
}

TEST(Tracker, AFrameThatComesAgainHasTheSameResult) {
  Tracker tracker;
  tracker.follow(object_at(frame_with_object(1, 60, 60), 60, 60));
  const CapturedFrame empty = frame_with_object(2, 76, 76);
  const std::optional<Track> once = tracker.find(empty, {}), again = tracker.find(empty, {});
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->box, again->box);
  EXPECT_EQ(once->ms, again->ms);
}

TEST(Tracker, SearchesWithinItsReachAlone) {
  EXPECT_EQ(reach_in({160, 120}), 16);
  EXPECT_EQ(reach_in({1080, 1920}), 64);
  EXPECT_EQ(reach_in({8000, 4000}), greatest_reach);
  Tracker tracker;
  tracker.follow(object_at(frame_with_object(1, 60, 60), 60, 60));
  const std::optional<Track> track = tracker.find(frame_with_object(2, 80, 64), {});
  ASSERT_TRUE(track);
  EXPECT_EQ(track->box, (Rect{76, 64, 24, 20}));
  EXPECT_LT(track->percent(), 100);
  EXPECT_EQ(tracker.find(frame_with_object(3, 80, 64), {})->percent(), 100);
}

TEST(Tracker, SaysWhyAnObjectIsNoLongerFollowed) {
  const auto after = [](const auto& change) {
    Tracker tracker;
    tracker.follow(object_at(frame_with_object(1, 30, 40), 30, 40));
    CapturedFrame frame = frame_with_object(2, 30, 40);
    change(frame);
    EXPECT_FALSE(tracker.find(frame, {}));
    EXPECT_FALSE(tracker.find(frame_with_object(3, 30, 40), {}));
    const std::string why = tracker.why_ended();
    tracker.follow(object_at(frame, 0, 0));
    EXPECT_TRUE(tracker.find(frame, {}));
    EXPECT_EQ(tracker.why_ended(), "");
    return why;
  };
  const std::string ended = "the object is no longer followed: ";
  EXPECT_EQ(after([](CapturedFrame& frame) { frame.source = frame.sequence = 2; }),
            ended + "another source is shown");
  EXPECT_EQ(after([](CapturedFrame& frame) {
              frame = frame_with_object(2, 30, 40, {161, 120});
            }),
            ended + "the frames have another size");
  EXPECT_EQ(after([](CapturedFrame& frame) { frame.sequence = 2; }),
            ended + "the video went to another position, began again or was turned");
}

TEST(FollowedObject, IsInTheResultsOfTheDetectionThread) {
  Detection detection(test::cpu_settings());
  const CapturedFrame first = frame_with_object(1, 30, 40);
  EXPECT_FALSE(result_of(detection, first).track);
  detection.follow(object_at(first, 30, 40));
  const LiveResult marked = next_result(detection);  // the same frame again
  ASSERT_TRUE(marked.track);
  EXPECT_EQ(marked.track->box, (Rect{30, 40, 24, 20}));
  EXPECT_FALSE(marked.is_new);
  const LiveResult moved = result_of(detection, frame_with_object(2, 40, 35));
  ASSERT_TRUE(moved.track);
  EXPECT_EQ(moved.track->box, (Rect{40, 35, 24, 20}));
  LiveSettings settings = detection.settings();
  settings.detect.min_neighbors = 5;
  EXPECT_EQ(result_with(detection, settings).track->box, moved.track->box);
  CapturedFrame other = frame_with_object(3, 40, 35);
  other.source = 2;
  EXPECT_NE(result_of(detection, other).track_ended, "");
  EXPECT_NE(result_of(detection, frame_with_object(4, 40, 35)).track_ended, "");
  detection.follow(std::nullopt);
  EXPECT_EQ(next_result(detection).track_ended, "");
}

class TrackingPanelTest : public test::OnePanelTest {
 protected:
  TrackingPanelTest() : OnePanelTest(make_tracking_panel()) {
    const CapturedFrame first = frame_with_object(1, 30, 40);
    Tracker tracker;
    tracker.follow(object_at(first, 30, 40));
    result.frame = first;
    result.track = tracker.find(first, {});
  }
};

TEST_F(TrackingPanelTest, IsThereWhileAnObjectIsFollowed) {
  EXPECT_TRUE(panel->is_wanted(context));
  EXPECT_EQ(wishes_after("no longer").followed, Rect{});
  context.wishes = {};
  EXPECT_FALSE(panel->handle_key({'X', false}, context));
  EXPECT_TRUE(panel->handle_key({Screen::escape, false}, context));
  EXPECT_EQ(context.wishes.followed, Rect{});
  result.track.reset();
  EXPECT_FALSE(panel->is_wanted(context));
  EXPECT_FALSE(panel->handle_key({Screen::escape, false}, context));
}

TEST_F(TrackingPanelTest, DrawsBothHistogramsOnOneScale) {
  // The height of the highest column of the match.
  const auto height = [this] {
    drawn();
    float least = 1e9f, most = 0;
    for (const ImVec2& corner : corners_of(IM_COL32(255, 20, 90, 255))) {
      least = std::min(least, corner.y);
      most = std::max(most, corner.y);
    }
    return most - least;
  };
  const float whole = height();
  EXPECT_NEAR(whole, 4 * ImGui::GetTextLineHeight(), 1);
  for (std::uint32_t& pixels : result.track->match) pixels /= 2;
  EXPECT_NEAR(height(), whole / 2, 1);
  result.track->match = {};
  result.track->object = {};
  EXPECT_EQ(height(), 0);
}

TEST_F(TrackingPanelTest, SaysOnceWhyNothingIsFollowedAnyMore) {
  const auto said = [this] { return toasts.shown(Toasts::Clock::now()).size(); };
  panel->begin(context);
  EXPECT_EQ(said(), 0u);
  result.track_ended = "it is gone";
  panel->begin(context);
  panel->begin(context);
  ASSERT_EQ(said(), 1u);
  EXPECT_EQ(toasts.shown(Toasts::Clock::now()).front().text, "it is gone");
}

TEST_F(TrackingPanelTest, MarksWhatIsDrawnWithShift) {
  view.set(result.frame.picture.pixels);
  const auto pass = [&] {
    frame([&] {
      view.draw();
      panel->draw_over(context);
    });
  };
  ImGuiIO& io = ImGui::GetIO();
  pass();
  hold_shift(true);
  io.MousePos = view.at(20, 20);
  pass();
  io.MouseDown[0] = true;
  pass();
  io.MousePos = view.at(60, 50);
  pass();
  EXPECT_FALSE(context.wishes.followed);
  io.MouseDown[0] = false;
  pass();
  ASSERT_TRUE(context.wishes.followed);
  EXPECT_NEAR(context.wishes.followed->width, 40, 1);
  context.wishes = {};
  result.view_is_frame = false;
  io.MouseDown[0] = true;
  pass();
  io.MouseDown[0] = false;
  pass();
  EXPECT_FALSE(context.wishes.followed);
}

class WindowTrackingTest : public test::WindowTest {};

TEST_F(WindowTrackingTest, AMarkedObjectIsFollowedUntilEsc) {
  {
    cv::VideoWriter writer(path("moving.avi"), cv::VideoWriter::fourcc('M', 'J', 'P', 'G'), 20,
                           {160, 120});
    ASSERT_TRUE(writer.isOpened());
    for (int i = 0; i < 200; ++i) {
      Image<Bgr> picture = picture_with_object({160, 120}, 20 + i / 2, 50);
      writer.write(cv::Mat(120, 160, CV_8UC3, picture.view().data,
                           static_cast<std::size_t>(picture.view().pitch) * sizeof(Bgr)));
    }
  }
  cv::Mat first;
  ASSERT_TRUE(cv::VideoCapture(path("moving.avi")).read(first));
  const auto corner = first.at<cv::Vec3b>(0, 0);
  constexpr Bgr followed{90, 20, 255};
  use_live_until("ctrl+q", {"moving.avi"}, [&](test::Desktop& desktop) {
    EXPECT_TRUE(desktop.shows({corner[0], corner[1], corner[2]}, test::most_of_a_picture));
    EXPECT_TRUE(press("space"));
    EXPECT_EQ(desktop.count(followed), 0);
    EXPECT_TRUE(display.act(
        "xdotool windowfocus $window keydown shift mousemove 500 200 sleep 0.3 mousedown 1 sleep "
        "0.3 mousemove 600 300 sleep 0.3 mousemove 1000 500 sleep 0.3 mouseup 1 sleep 0.3 keyup "
        "shift"));
    EXPECT_TRUE(desktop.shows(followed, 1000));  // the box, and the histogram in the panel
    EXPECT_TRUE(press("Right Right"));
    EXPECT_TRUE(desktop.shows(followed, 1000));
    EXPECT_TRUE(press("Escape"));
    EXPECT_TRUE(test::eventually([&] { return desktop.count(followed) == 0; }));
  });
}

}  // namespace
}  // namespace facesat::app

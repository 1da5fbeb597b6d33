// Devices that share images, start late, and fail: with backends of the CPU in the place of
// devices.
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "cascades/cascade_store.hpp"
#include "library/detect/detector_pool.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/threads.hpp"

namespace facesat::test {
namespace {

// What happens on a device.
struct Log {
  std::atomic<int> images = 0, at_once = 0, most_at_once = 0;
  int fails_at = -1;  // the image at which it fails for good
  bool has_memory = true;
  View<const std::uint8_t> picture;  // that JPEGs have
  std::atomic<int> decoded = 0;
  bool has_memory_to_decode = true, decoding_fails = false;
};

// Views of frames in host memory stand for those on a device.
View<const std::uint8_t> gray_view(const ImageView& image) {
  return {static_cast<const std::uint8_t*>(image.pixels), image.size, image.pitch};
}

class LoggedBackend final : public Backend {
 public:
  explicit LoggedBackend(Log& log) : log_(log) {}

  void prepare(std::shared_ptr<const Cascade> cascade, const Pyramid& pyramid,
               const DetectOptions& options) override {
    if (!log_.has_memory) throw MemoryError("a buffer", 1000);
    cpu_->prepare(std::move(cascade), pyramid, options);
  }
  void stop_when(ShouldStop should_stop) override { cpu_->stop_when(std::move(should_stop)); }
  void load(View<const Bgr> frame) override { cpu_->load(frame); }
  void load(View<const Rgb> frame) override { cpu_->load(frame); }
  void load(View<const std::uint8_t> gray) override { cpu_->load(gray); }
  void load(const ImageView& decoded) override { cpu_->load(gray_view(decoded)); }
  void run() override {
    const int at_once = ++log_.at_once;
    for (int most = log_.most_at_once; most < at_once;)
      log_.most_at_once.compare_exchange_weak(most, at_once);
    const int image = log_.images++;
    if (log_.fails_at < 0 || image < log_.fails_at) cpu_->run();
    --log_.at_once;
    if (log_.fails_at >= 0 && image >= log_.fails_at) throw DeviceError("it is gone");
  }
  std::size_t collect() override { return cpu_->collect(); }
  std::span<const Window> windows() override { return cpu_->windows(); }
  std::vector<Face> group() override { return cpu_->group(); }
  Image<std::uint32_t> snapshot(Snapshot picture, int level) override {
    return cpu_->snapshot(picture, level);
  }
  StepTimes times() const override { return cpu_->times(); }
  void* stream() const override { return &log_; }

 private:
  Log& log_;
  const std::unique_ptr<Backend> cpu_ = make_cpu_backend();
};

constexpr std::chrono::hours hour{1};
constexpr BackendStart::Delay at_once{}, in_an_hour{hour, hour, 0};

// Its pictures are there already.
class ReadyDecoder final : public gpu::JpegDecoder {
 public:
  explicit ReadyDecoder(Log& log) : log_(log) {}
  ImageView decode(const gpu::JpegStream&, bool, int, void* stream) override {
    EXPECT_EQ(stream, &log_) << "that of the backend on the same device";
    if (!log_.has_memory_to_decode) throw MemoryError("a buffer", 1000);
    ++log_.decoded;
    return image_view(log_.picture);
  }
  bool has_failed() override { return log_.decoding_fails; }

 private:
  Log& log_;
};

class PoolTest : public ::testing::Test {
 protected:
  Backends backends(BackendChoice choice = BackendChoice::automatic) {
    std::vector<Backends::Device> all;
    for (std::size_t i = 0; i < logs.size(); ++i)
      all.push_back({"device " + std::to_string(i),
                     [log = &logs[i]] { return std::make_unique<LoggedBackend>(*log); },
                     static_cast<int>(i),
                     [log = &logs[i]] { return std::make_unique<ReadyDecoder>(*log); }});
    return Backends(choice, std::move(all), "detecting on devices");
  }
  Detector::Pool pool(const BackendStart::Choose& choose,
                      const std::optional<BackendStart::Delay>& delay = std::nullopt) {
    return Detector::Pool(cascades, {}, choose, delay, [this](const std::string& sentence) {
      const std::scoped_lock lock(mutex);
      sentences.push_back(sentence);
    });
  }
  std::vector<std::string> told() {
    const std::scoped_lock lock(mutex);
    return sentences;
  }

  // Searches the pictures by as many threads; returns how many results were wrong.
  int wrong_of(Detector::Pool& pool, int threads, int images_each) const {
    std::atomic<int> wrong = 0;
    in_threads(threads, [&](int t) {
      for (int i = 0; i < images_each; ++i) {
        const std::size_t which = (i + t) % pictures.size();
        wrong += boxes_of(pool, which) != expected[which];
      }
    });
    return wrong;
  }
  std::vector<Rect> boxes_of(Detector::Pool& pool, std::size_t which) const {
    return boxes(pool.detect(image_view(pictures[which].view()), {}).faces);
  }

  PoolTest() {
    for (int i = 0; i < 3; ++i) pictures.push_back(drawn_faces({200 + 60 * i, 130}));
    Detector::Pool on_cpu(cascades, {}, [] { return Backends({}, {}); }, std::nullopt, {});
    for (std::size_t i = 0; i < pictures.size(); ++i) expected.push_back(boxes_of(on_cpu, i));
  }

  const Cascades cascades{find_cascade("frontalface_default")};
  std::array<Log, 3> logs;
  std::vector<Image<std::uint8_t>> pictures;
  std::vector<std::vector<Rect>> expected;
  std::mutex mutex;
  std::vector<std::string> sentences;
};

TEST_F(PoolTest, DevicesShareTheImages) {
  ASSERT_FALSE(expected.front().empty());
  Detector::Pool shared = pool([this] { return backends(); });
  EXPECT_EQ(wrong_of(shared, 40, 3), 0);
  int images = 0;
  for (const Log& log : logs) {
    EXPECT_GT(log.images, 0);
    EXPECT_LE(log.most_at_once, DeviceTurns::images_per_device);
    images += log.images;
  }
  EXPECT_EQ(images, 120);
  EXPECT_TRUE(told().empty());
  EXPECT_TRUE(shared.failures().empty());
}

TEST_F(PoolTest, AFailedDeviceLosesNoImage) {
  logs[1].fails_at = 5;
  for (const BackendChoice choice : {BackendChoice::automatic, BackendChoice::cuda}) {
    logs[1].images = 0;
    sentences.clear();
    Detector::Pool shared = pool([&] { return backends(choice); });
    EXPECT_EQ(wrong_of(shared, 20, 6), 0);
    ASSERT_EQ(shared.failures().size(), 1u);
    EXPECT_EQ(shared.failures().front(),
              "device 1 has failed (it is gone); the others go on with its pictures");
    EXPECT_EQ(told(), shared.failures());
    const int images = logs[1].images;
    EXPECT_LE(images, 5 + DeviceTurns::images_per_device);
    EXPECT_EQ(wrong_of(shared, 4, 4), 0);
    EXPECT_EQ(logs[1].images, images);  // it gets no more
  }
}

TEST_F(PoolTest, TheCpuTakesOverFromTheLastDevice) {
  for (Log& log : logs) log.fails_at = 7;
  Detector::Pool shared = pool([this] { return backends(); });
  EXPECT_EQ(wrong_of(shared, 20, 6), 0);
  ASSERT_EQ(shared.failures().size(), 3u);
  EXPECT_NE(shared.failures().back().find("the CPU goes on with its pictures"), std::string::npos);
  EXPECT_FALSE(shared.detect(image_view(pictures[0].view()), {}).on_gpu);
}

TEST_F(PoolTest, WithoutTheCpuTheFailureIsTheCallers) {
  for (Log& log : logs) log.fails_at = 0;
  Detector::Pool shared = pool([this] { return backends(BackendChoice::cuda); });
  for (int again = 0; again < 2; ++again)
    EXPECT_THROW(shared.detect(image_view(pictures[0].view()), {}), DeviceError);
}

TEST_F(PoolTest, ImagesTooLargeForADeviceGoToTheCpu) {
  for (Log& log : logs) log.has_memory = false;
  Detector::Pool automatic = pool([this] { return backends(); });
  EXPECT_EQ(wrong_of(automatic, 8, 3), 0);
  ASSERT_EQ(told().size(), 1u);
  EXPECT_NE(told().front().find("such pictures are detected on the CPU"), std::string::npos);
  EXPECT_TRUE(automatic.failures().empty());
  Detector::Pool strict = pool([this] { return backends(BackendChoice::cuda); });
  EXPECT_THROW(strict.detect(image_view(pictures[0].view()), {}), MemoryError);
}

// The pool decodes a JPEG of the first picture on a device, or calls `decode`.
class EncodedImages : public PoolTest {
 protected:
  EncodedImages() {
    jpeg.header.size = pictures[0].size();
    for (Log& log : logs) log.picture = pictures[0].view();
  }
  Detection detect(Detector::Pool& pool) {
    const auto decode = [this] {
      ++decoded_here;
      return image_view(pictures[0].view());
    };
    const auto keep = [this](const ImageView& decoded) {
      EXPECT_EQ(decoded.pixels, pictures[0].view().data);
      ++kept;
    };
    Detection found =
        pool.detect_encoded({.jpeg = jpeg, .luma = true, .decode = decode, .keep = keep}, {});
    EXPECT_EQ(kept + decoded_here, ++searched);
    EXPECT_EQ(boxes(found.faces), expected[0]);
    return found;
  }
  int decoded_there() const { return logs[0].decoded + logs[1].decoded + logs[2].decoded; }

  gpu::JpegStream jpeg;
  int decoded_here = 0, kept = 0, searched = 0;
};

TEST_F(EncodedImages, AreDecodedByDevices) {
  Detector::Pool shared = pool([this] { return backends(); });
  EXPECT_TRUE(shared.decodes_jpegs());
  EXPECT_TRUE(shared.may_use_devices());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(detect(shared).on_gpu);
  EXPECT_EQ(decoded_there(), 3);
  EXPECT_EQ(decoded_here, 0);
}

TEST_F(EncodedImages, AreDecodedOnTheCpuWhereDecodingFails) {
  for (Log& log : logs) log.decoding_fails = true;
  Detector::Pool shared = pool([this] { return backends(); });
  EXPECT_TRUE(detect(shared).on_gpu);  // the decoded image
  EXPECT_EQ(decoded_there(), 1);
  EXPECT_EQ(decoded_here, 1);
}

TEST_F(EncodedImages, AreDecodedOnTheCpuWhereMemoryIsShort) {
  for (Log& log : logs) log.has_memory_to_decode = false;
  for (const BackendChoice choice : {BackendChoice::automatic, BackendChoice::cuda}) {
    Detector::Pool shared = pool([&] { return backends(choice); });
    EXPECT_TRUE(detect(shared).on_gpu);
  }
  EXPECT_EQ(decoded_here, 2);
  EXPECT_TRUE(told().empty());
}

TEST_F(EncodedImages, GoToTheCpuWhenAllDevicesHaveFailed) {
  for (Log& log : logs) log.fails_at = 0;
  Detector::Pool shared = pool([this] { return backends(); });
  EXPECT_FALSE(detect(shared).on_gpu);
  EXPECT_EQ(decoded_here, 1);
  EXPECT_EQ(shared.failures().size(), 3u);
  EXPECT_FALSE(shared.decodes_jpegs());
  Detector::Pool strict = pool([this] { return backends(BackendChoice::cuda); });
  EXPECT_THROW(detect(strict), DeviceError);
}

TEST_F(EncodedImages, GoToTheCpuWhileDevicesStart) {
  Detector::Pool shared = pool([this] { return backends(); }, in_an_hour);
  EXPECT_FALSE(shared.decodes_jpegs());
  EXPECT_TRUE(shared.may_use_devices());
  EXPECT_FALSE(detect(shared).on_gpu);
  EXPECT_EQ(decoded_here, 1);
}

TEST_F(PoolTest, StopsWhileItWaitsForATurn) {
  DeviceTurns turns(backends().devices(), [](const auto&) { return nullptr; });
  std::vector<DeviceTurns::Turn> taken;
  for (int i = 0; i < 3 * DeviceTurns::images_per_device; ++i)
    taken.push_back(std::move(*turns.take({1, 1}, {})));
  EXPECT_THROW(turns.take({1, 1}, [] { return true; }), Stopped);
  taken.pop_back();
  EXPECT_TRUE(turns.take({1, 1}, [] { return true; }));
}

TEST_F(PoolTest, TheCpuDetectsWhileDevicesStart) {
  std::promise<void> started;
  Detector::Pool shared = pool(
      [this, ready = started.get_future().share()] {
        ready.wait();
        return backends();
      },
      at_once);
  shared.announce();
  while (!BackendStart::is_any_under_way()) std::this_thread::yield();
  EXPECT_EQ(wrong_of(shared, 4, 3), 0);
  EXPECT_EQ(logs[0].images + logs[1].images + logs[2].images, 0);
  EXPECT_TRUE(told().empty());
  started.set_value();
  EXPECT_TRUE(shared.backends().on_gpu());  // waits
  EXPECT_EQ(wrong_of(shared, 4, 3), 0);
  EXPECT_EQ(logs[0].images + logs[1].images + logs[2].images, 12);
  EXPECT_EQ(told(), std::vector<std::string>{"detecting on devices"});
}

TEST_F(PoolTest, ADeviceThatIsNotNeededInTimeIsNotStarted) {
  std::atomic<bool> is_chosen = false;
  const auto choose = [&] {
    is_chosen = true;
    return backends();
  };
  {
    Detector::Pool shared = pool(choose, in_an_hour);
    EXPECT_EQ(wrong_of(shared, 2, 2), 0);
  }
  EXPECT_FALSE(is_chosen);
  Detector::Pool shared = pool(choose, in_an_hour);
  EXPECT_TRUE(shared.backends().on_gpu());  // who waits for it needs it
}

TEST_F(PoolTest, DevicesStartWhenManyImagesHaveCome) {
  std::atomic<bool> is_chosen = false;
  Detector::Pool shared = pool(
      [&] {
        is_chosen = true;
        return backends();
      },
      BackendStart::Delay{.least = {}, .most = hour, .images = 4});
  EXPECT_EQ(wrong_of(shared, 2, 2), 0);
  EXPECT_FALSE(is_chosen);
  EXPECT_EQ(wrong_of(shared, 1, 1), 0);
  while (!is_chosen) std::this_thread::yield();
}

TEST_F(PoolTest, DevicesThatCannotStartLeaveTheCpu) {
  Detector::Pool shared =
      pool([]() -> Backends { throw DeviceError("there was a short circuit"); }, at_once);
  shared.backends();
  shared.announce();
  EXPECT_EQ(told(), std::vector<std::string>{"detecting on the CPU: there was a short circuit"});
  EXPECT_EQ(wrong_of(shared, 2, 2), 0);
  EXPECT_THROW(pool([]() -> Backends { throw DeviceError("at once"); }), DeviceError);
}

TEST_F(PoolTest, MayBeDestroyedWhileDevicesStart) {
  std::promise<void> started;
  {
    Detector::Pool shared = pool(
        [this, ready = started.get_future().share()] {
          ready.wait();
          return backends();
        },
        at_once);
    shared.announce();
    while (!BackendStart::is_any_under_way()) std::this_thread::yield();
  }
  started.set_value();
  while (BackendStart::is_any_under_way()) std::this_thread::yield();
  EXPECT_TRUE(told().empty());
}

TEST(Devices, ThatCannotBeUsedAreLeftOut) {
  std::vector<Backends::Device> devices{{"a", {}, 0}, {"b", {}, 1}, {"c", {}, 2}, {"d", {}, 3}};
  const std::vector<LeftOut> left_out = leave_out_unusable(devices, [](int id) -> std::string {
    if (id == 1) throw DeviceError("it does not start");
    return id == 3 ? "it is too old" : "";
  });
  ASSERT_EQ(left_out.size(), 2u);
  EXPECT_EQ(left_out[0].device + ": " + left_out[0].why, "b: it does not start");
  EXPECT_EQ(left_out[1].device + ": " + left_out[1].why, "d: it is too old");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].name, "a");
  EXPECT_EQ(devices[1].name, "c");
}

}  // namespace
}  // namespace facesat::test

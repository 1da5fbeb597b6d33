// All of facesat's library in a few pages. It needs no picture: it makes one.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include <facesat.hpp>

namespace {

// A grey gradient: there is no face in it, but it is good enough to show the calls.
std::vector<std::uint8_t> gradient(facesat::Size size) {
  std::vector<std::uint8_t> pixels(size.area());
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i % size.width * 255 / size.width);
  return pixels;
}

void show_machine() {
  std::printf("facesat %s\n", facesat::version().c_str());
  std::string why_none;
  for (const facesat::DeviceInfo& device : facesat::devices(&why_none))
    std::printf("device %d: %s\n", device.id, device.name.c_str());
  if (!why_none.empty()) std::printf("no device: %s\n", why_none.c_str());
  for (const std::string& name : facesat::cascade_names())
    std::printf("cascade %s\n", name.c_str());
}

void detect(const facesat::ImageView& image) {
  // Made once, shared by all threads. The options are those of detectMultiScale.
  const facesat::Detector detector("frontalface_default",
                                   {.scale_factor = 1.2, .min_neighbors = 4});
  std::printf("detecting on %s\n", detector.device_name().c_str());

  const facesat::Detection found = detector.detect(image);
  std::printf("%zu faces from %zu windows\n", found.faces.size(), found.windows);
  for (const auto& [box, neighbors, score, cascade] : found.faces)
    std::printf("%d,%d %dx%d: %d windows, score %.2f\n", box.x, box.y, box.width, box.height,
                neighbors, score);
  for (std::size_t step = 0; step < found.times.ms.size(); ++step)
    std::printf("%s %.3f ms\n", facesat::step_names[step].data(), found.times.ms[step]);

  // Many images at once. One that cannot be searched does not keep the others from it.
  const std::vector<facesat::ImageView> images(4, image);
  for (const facesat::Detection& one : detector.detect_all(images))
    std::printf("%s: %zu faces\n", one.error ? "failed" : "ok", one.faces.size());

  // A call can be ended, here after a second.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  try {
    detector.detect(image, [deadline] { return std::chrono::steady_clock::now() > deadline; });
  } catch (const facesat::Stopped& stopped) {
    std::printf("%s\n", stopped.what());
  }
}

void detect_with_two_cascades(const facesat::ImageView& image) {
  const auto faces = facesat::find_cascade("frontalface_default");  // or a path
  const auto info = facesat::info_of(*faces);
  std::printf("%s: windows of %dx%d, %d stages, %d trees\n", info.name.c_str(), info.window.width,
              info.window.height, info.stages, info.trees);
  // On the CPU, even where there is a GPU.
  const facesat::Detector detector({faces, faces}, {}, {.choice = facesat::BackendChoice::cpu});
  std::vector<std::thread> threads;
  std::atomic<std::size_t> count = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { count += detector.detect(image).faces.size(); });
  for (std::thread& thread : threads) thread.join();
  std::printf("%zu faces in four threads\n", count.load());
}

// A cascade for bright squares with a dark one inside, from drawings of them.
void train() {
  constexpr int side = 12;
  const auto draw = [](int number) {
    std::vector<std::uint8_t> pixels(side * side);
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const bool is_inside = x > 3 && x < 8 && y > 3 && y < 8;
        pixels[y * side + x] =
            static_cast<std::uint8_t>((is_inside ? 40 : 150) + (x * 7 + y * 13 + number * 29) % 60);
      }
    return pixels;
  };
  std::vector<std::vector<std::uint8_t>> squares;
  for (int i = 0; i < 40; ++i) squares.push_back(draw(i));
  std::vector<std::uint8_t> noise(200 * 200);
  for (std::size_t i = 0; i < noise.size(); ++i)
    noise[i] = static_cast<std::uint8_t>(i * i / 7 % 251);
  const auto image = [](const std::vector<std::uint8_t>& pixels, int width) {
    return facesat::ImageView{.pixels = pixels.data(),
                              .size = {width, width},
                              .pitch = width,
                              .format = facesat::PixelFormat::gray};
  };
  std::vector<facesat::TrainingImage> positives, negatives{{image(noise, 200)}};
  for (const auto& square : squares) positives.push_back({image(square, side)});

  const facesat::Training training =
      facesat::train(positives, negatives, {.window = {side, side}}, {.stages = 3}, {},
                     [](const facesat::TrainedStage& stage) {
                       std::printf("stage %d: %d trees\n", stage.number, stage.trees);
                       return true;  // go on
                     });
  std::printf("%s; %zu bytes of XML\n", training.ending.c_str(),
              facesat::cascade_to_xml(*training.cascade).size());
}

void integrate(const std::vector<std::uint8_t>& pixels, facesat::Size size) {
  std::vector<std::uint32_t> table(pixels.size());
  facesat::sat({.data = pixels.data(), .size = size, .pitch = size.width},
               {.data = table.data(),
                .size = size,
                .pitch = size.width * 4,
                .element = facesat::Element::u32});
  std::printf("the sum of all pixels is %u\n", table.back());
}

// A recursive filter, y[i] = y[i - 1] / 2 + x[i], as a scan of the maps (1/2, x[i]).
void filter_recursively() {
  std::vector<float> maps{0.5f, 1, 0.5f, 2, 0.5f, 3};
  const facesat::ArrayView row{
      .data = maps.data(), .size = {6, 1}, .element = facesat::Element::f32};
  facesat::scan(row, row, {.op = facesat::ScanOperator::compose});
  std::printf("1, 2, 3 filtered: %g, %g, %g; %zu algorithms for scans on a GPU\n", maps[1], maps[3],
              maps[5], facesat::scan_algorithms().size());
}

}  // namespace

int main() try {
  constexpr facesat::Size size{320, 240};
  std::vector<std::uint8_t> pixels = gradient(size);
  const facesat::ImageView image{.pixels = pixels.data(),
                                 .size = size,
                                 .pitch = size.width,
                                 .format = facesat::PixelFormat::gray};
  show_machine();
  detect(image);
  detect_with_two_cascades(image);
  train();
  integrate(pixels, size);
  filter_recursively();
} catch (const facesat::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

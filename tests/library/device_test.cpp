// The library's interface with images and arrays in the memory of a GPU. Needs one.
#include <atomic>
#include <chrono>
#include <thread>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "core/frame_memory.hpp"
#include "kernels/device/cuda.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/threads.hpp"
#include "tests/library/arrays.hpp"

namespace facesat::test {
namespace {

const BackendOptions cuda{.choice = BackendChoice::cuda}, cpu{.choice = BackendChoice::cpu};

// Bytes in device memory, from the `offset`-th byte of a line on. They arrive late: their stream
// first waits for a while, so that whoever does not wait for it reads poison.
class LateBytes {
 public:
  LateBytes(const std::vector<std::uint8_t>& bytes, std::size_t offset, cudaStream_t stream)
      : memory_(bytes.size() + offset), offset_(offset) {
    FACESAT_CUDA(cudaMemset(memory_.data(), 0x5A, memory_.bytes()));
    FACESAT_CUDA(cudaDeviceSynchronize());
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
    FACESAT_CUDA(cudaLaunchHostFunc(stream, wait, nullptr));
    FACESAT_CUDA(
        cudaMemcpyAsync(data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream));
  }
  std::uint8_t* data() const { return memory_.data() + offset_; }

 private:
  gpu::Buffer<std::uint8_t> memory_;
  std::size_t offset_;
};

std::vector<Rect> boxes_of(const Detection& found) {
  return boxes(found.faces);
}

class DeviceImages : public ::testing::Test {
 protected:
  ImageView on_device(const OwnedView& one, const LateBytes& bytes) const {
    ImageView view = one.view;
    view.pixels = bytes.data();
    view.on_device = true;
    view.stream = stream.get();
    return view;
  }

  const gpu::Stream stream = gpu::make_stream();
  const Image<std::uint8_t> gray = drawn_faces({430, 130});
  const Image<Bgr> colour = coloured(gray.view());
  const Detector on_cpu{"frontalface_default", {}, cpu}, on_gpu{"frontalface_default", {}, cuda};
  const std::vector<Rect> expected = boxes_of(on_cpu.detect(image_view(gray.view())));
};

TEST_F(DeviceImages, OfAllFormatsGiveTheSameFaces) {
  ASSERT_GT(expected.size(), 1u);
  std::vector<OwnedView> all = all_layouts(colour.view());
  for (const int gap : {0, 1, 50})
    all.push_back(laid_out(image_view(gray.view()), gap, false, "grey"));
  for (const OwnedView& one : all) {
    if (one.view.pitch < 0) continue;
    for (const std::size_t offset : {0, 1, 16}) {
      const LateBytes bytes(one.bytes, offset, stream.get());
      const Detection found = on_gpu.detect(on_device(one, bytes));
      EXPECT_TRUE(found.on_gpu);
      EXPECT_EQ(boxes_of(found), expected) << one.name << " from byte " << offset;
    }
  }
}

TEST_F(DeviceImages, ColoursAreReadInTheOrderOfTheirBytes) {
  const Image<Bgr> noise = colour_noise({300, 200}, 3);
  const DetectOptions raw{.min_neighbors = 0, .scan = Scan::dense, .equalize = true};
  const Detector gpu_detector("lbp:frontalface", raw, cuda),
      cpu_detector("lbp:frontalface", raw, cpu);
  const Detection expected_windows = cpu_detector.detect(image_view(noise.view()));
  for (const OwnedView& one : all_layouts(noise.view())) {
    EXPECT_EQ(boxes_of(gpu_detector.detect(one.view)), boxes_of(expected_windows)) << one.name;
    if (one.view.pitch < 0) continue;
    const LateBytes bytes(one.bytes, 0, stream.get());
    EXPECT_EQ(boxes_of(gpu_detector.detect(on_device(one, bytes))), boxes_of(expected_windows))
        << one.name;
  }
}

TEST_F(DeviceImages, AreDownloadedWhereTheCpuDetects) {
  const OwnedView one = laid_out(image_view(colour.view()), 7, false, "");
  const LateBytes bytes(one.bytes, 3, stream.get());
  const Detection found = on_cpu.detect(on_device(one, bytes));
  EXPECT_FALSE(found.on_gpu);
  EXPECT_EQ(boxes_of(found), expected);
}

// Parts of images begin anywhere in a row.
TEST_F(DeviceImages, AreSearchedInsideFacesInPlace) {
  const std::vector<std::shared_ptr<const Cascade>> cascades{find_cascade("frontalface_default"),
                                                             find_cascade("lbp:frontalface")};
  const DetectOptions inside{.min_neighbors = 1, .inside_of = "frontalface_default"};
  const Detector cpu_detector(cascades, inside, cpu), gpu_detector(cascades, inside, cuda);
  const std::vector<Rect> of_cpu = boxes_of(cpu_detector.detect(image_view(gray.view())));
  ASSERT_GT(of_cpu.size(), boxes_of(Detector("frontalface_default", {.min_neighbors = 1}, cpu)
                                        .detect(image_view(gray.view())))
                               .size());
  EXPECT_EQ(boxes_of(gpu_detector.detect(image_view(colour.view()))), of_cpu);
  std::vector<OwnedView> all = all_layouts(colour.view());
  all.push_back(laid_out(image_view(gray.view()), 5, false, "grey"));
  for (const OwnedView& one : all) {
    if (one.view.pitch < 0) continue;
    const LateBytes bytes(one.bytes, 1, stream.get());
    EXPECT_EQ(boxes_of(gpu_detector.detect(on_device(one, bytes))), of_cpu) << one.name;
  }
}

TEST_F(DeviceImages, FramesInPageLockedMemoryAreReadThere) {
  for (int again = 0; again < 3; ++again) {
    const NewFrame<Bgr> frame = new_frame<Bgr>(colour.size());
    cudaPointerAttributes attributes{};
    FACESAT_CUDA(cudaPointerGetAttributes(&attributes, frame.owner.get()));
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    copy(colour.view(), frame.pixels);
    EXPECT_EQ(boxes_of(on_gpu.detect(image_view(frame.pixels))), expected);
    std::memset(frame.owner.get(), 0, 3 * colour.size().area());
  }
}

// Anywhere in it, as the pixels of a file.
TEST_F(DeviceImages, PageLockedMemoryHasImagesOfAllLayouts) {
  const Image<Bgr> noise = colour_noise({300, 200}, 3);
  const DetectOptions raw{.min_neighbors = 0, .scan = Scan::dense, .equalize = true};
  const Detector gpu_detector("lbp:frontalface", raw, cuda),
      cpu_detector("lbp:frontalface", raw, cpu);
  std::vector<OwnedView> all = all_layouts(noise.view());
  const Image<std::uint8_t> one_channel = test::noise({300, 200}, 4);
  all.push_back(laid_out(image_view(one_channel.view()), 0, false, "grey"));
  for (const OwnedView& one : all)
    for (const std::size_t offset : {0, 15}) {
      const std::shared_ptr<void> memory = frame_memory(one.bytes.size() + offset);
      auto* const bytes = static_cast<std::uint8_t*>(memory.get()) + offset;
      std::copy(one.bytes.begin(), one.bytes.end(), bytes);
      ImageView there = one.view;
      there.pixels = bytes + (static_cast<const std::uint8_t*>(one.view.pixels) - one.bytes.data());
      const Detection found = gpu_detector.detect(there);
      EXPECT_TRUE(found.on_gpu);
      EXPECT_EQ(boxes_of(found), boxes_of(cpu_detector.detect(one.view)))
          << one.name << " at byte " << offset;
    }
}

TEST_F(DeviceImages, ThatAreNotThereAreRefused) {
  ImageView host = image_view(colour.view());
  host.on_device = true;
  EXPECT_THROW(on_gpu.detect(host), ArgumentError);
  EXPECT_THROW(on_cpu.detect(host), ArgumentError);
  const OwnedView one = laid_out(image_view(colour.view()), 0, true, "");
  const LateBytes bytes(one.bytes, 0, stream.get());
  EXPECT_THROW(on_gpu.detect(on_device(one, bytes)), ArgumentError);
  EXPECT_EQ(boxes_of(on_gpu.detect(image_view(colour.view()))), expected);  // still usable
}

TEST_F(DeviceImages, HostAndDeviceImagesTakeTurnsInManyThreads) {
  const OwnedView one = laid_out(image_view(colour.view()), 5, false, "");
  const LateBytes bytes(one.bytes, 0, stream.get());
  std::atomic<int> different = 0;
  in_threads(8, [&](int t) {
    for (int i = 0; i < 20; ++i)
      different += boxes_of(on_gpu.detect((i + t) % 2 == 0 ? image_view(colour.view())
                                                           : on_device(one, bytes))) != expected;
  });
  EXPECT_EQ(different, 0);
}

class DeviceSat : public ::testing::TestWithParam<SatCase> {
 protected:
  // Computes the table in `stream`, with both arrays `offset` bytes from a line, and checks it.
  static void expect_equal(Size size, int gap, std::size_t offset, cudaStream_t stream,
                           const std::string& algorithm = "") {
    const OwnedArray input = random_array(size, GetParam().input, gap, 5);
    OwnedArray table = poisoned_array(table_size(size, GetParam()), GetParam().table, gap);
    const LateBytes from(input.bytes, offset, stream), to(table.bytes, offset, stream);
    ConstArrayView input_view = input.view();
    ArrayView table_view = table.view();
    input_view.data = from.data();
    table_view.data = to.data();
    input_view.on_device = table_view.on_device = true;
    SatOptions options = options_of(GetParam());
    options.stream = stream;
    options.algorithm = algorithm;
    sat(input_view, table_view, options);
    FACESAT_CUDA(cudaMemcpyAsync(table.bytes.data(), to.data(), table.bytes.size(),
                                 cudaMemcpyDeviceToHost, stream));
    FACESAT_CUDA(cudaStreamSynchronize(stream));
    SCOPED_TRACE(algorithm);
    expect_sums(input, table, GetParam());
    expect_untouched_gaps(table);
  }
};

TEST_P(DeviceSat, EqualsItsDefinition) {
  const gpu::Stream stream = gpu::make_stream();
  for (const Size size :
       {Size{1, 1}, {1, 70}, {70, 1}, {31, 33}, {64, 64}, {257, 100}, {1000, 300}})
    for (const int gap : {0, 8, 48})
      for (const std::size_t offset : {0, 8}) expect_equal(size, gap, offset, stream.get());
}

TEST_P(DeviceSat, EveryAlgorithmWritesInPlaceAndNotBeyond) {
  // With 12 (or 8) bytes before the first element, element (1, 1) begins a multiple of 16 bytes.
  const std::size_t element = static_cast<std::size_t>(bytes_per_element(GetParam().table));
  const gpu::Stream stream = gpu::make_stream();
  for (const SatAlgorithmInfo& algorithm : sat_algorithms())
    expect_equal({63, 50}, 0, 16 - element, stream.get(), algorithm.id);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceSat, ::testing::ValuesIn(device_sat_cases()),
                         ::testing::PrintToStringParamName());

TEST(SatOnADevice, IsRefusedAcrossMemories) {
  std::vector<float> host(16);
  const gpu::Buffer<float> device(16);
  const ArrayView there = packed(device.data(), {4, 4}, Element::f32, true);
  ArrayView here = there;
  here.data = host.data();
  EXPECT_THROW(sat(here, there), ArgumentError);
  EXPECT_THROW(sat(there, here), ArgumentError);
  EXPECT_THROW(sat(there, there, {.algorithm = "nosuch"}), BackendError);
}

// Every algorithm, every type, arrays on any boundary, in place or not.
TEST(DeviceScan, EqualsItsDefinition) {
  const gpu::Stream stream = gpu::make_stream();
  constexpr Element elements[] = {Element::s32, Element::u32, Element::s64, Element::f32,
                                  Element::f64};
  constexpr int n = 10'006;
  std::vector<std::string> algorithms = scan_algorithms();
  ASSERT_FALSE(algorithms.empty());
  algorithms.insert(algorithms.end(), {"", "dieguez_2014_ks_p:threads=64,blocks=8"});
  int different = 0;
  const auto check = [&](Element element, const ScanOptions& options, std::size_t offset,
                         bool in_place) {
    const std::size_t bytes = n * static_cast<std::size_t>(bytes_per_element(element));
    std::vector<std::uint8_t> input(bytes), expected(bytes), result(bytes, 0xA5);
    for (std::size_t i = 0; i < bytes; i += 4) {  // small values, of either kind
      const float real = static_cast<float>(i % 7) - 3;
      const std::uint32_t whole = static_cast<std::uint32_t>(i * 2654435761u);
      std::memcpy(input.data() + i,
                  element == Element::f32 ? static_cast<const void*>(&real) : &whole, 4);
    }
    if (element == Element::f64)
      for (std::size_t i = 0; i < n; ++i) {
        const double real = static_cast<double>(i % 11) - 5;
        std::memcpy(input.data() + 8 * i, &real, 8);
      }
    const ConstArrayView from{.data = input.data(), .size = {n, 1}, .element = element};
    ScanOptions on_host = options;
    on_host.algorithm.clear();
    scan(from, {.data = expected.data(), .size = {n, 1}, .element = element}, on_host);
    const LateBytes source(input, offset, stream.get()), target(result, offset, stream.get());
    ArrayView view{.data = in_place ? source.data() : target.data(),
                   .size = {n, 1},
                   .element = element,
                   .on_device = true};
    ConstArrayView given = view;
    given.data = source.data();
    ScanOptions on_device = options;
    on_device.stream = stream.get();
    scan(given, view, on_device);
    FACESAT_CUDA(
        cudaMemcpyAsync(result.data(), view.data, bytes, cudaMemcpyDeviceToHost, stream.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream.get()));
    different += result != expected;
  };
  for (const std::string& algorithm : algorithms)
    for (const Element element : elements)
      for (const bool exclusive : {false, true})
        for (const std::size_t offset : {0, 8}) {
          SCOPED_TRACE(algorithm);
          check(element, {.exclusive = exclusive, .algorithm = algorithm}, offset, exclusive);
          if (element == Element::u32)
            check(element,
                  {.op = ScanOperator::compose, .exclusive = exclusive, .algorithm = algorithm},
                  offset, !exclusive);
        }
  EXPECT_EQ(different, 0);
}

TEST(DeviceScan, IsRefusedAcrossMemoriesAndForUnknownAlgorithms) {
  std::vector<float> host(16);
  const gpu::Buffer<float> device(16);
  const ArrayView there{
      .data = device.data(), .size = {16, 1}, .element = Element::f32, .on_device = true};
  ArrayView here = there;
  here.data = host.data();
  EXPECT_THROW(scan(here, there), ArgumentError);
  EXPECT_THROW(scan(there, here), ArgumentError);
  EXPECT_THROW(scan(there, there, {.algorithm = "nosuch"}), BackendError);
  EXPECT_THROW(scan(there, there, {.algorithm = "dieguez_2014_da:variant=2"}), BackendError);
}

}  // namespace
}  // namespace facesat::test

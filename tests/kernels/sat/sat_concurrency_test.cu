// SAT algorithms whose blocks wait for each other must finish however few blocks are resident, and
// whatever else runs on the device.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/platform.hpp"
#include "lab/problems/sat.hpp"
#include "lab/problems/sat_memory.hpp"
#include "tests/kit/held_half.cuh"

namespace facesat::test {
namespace {

using gpu::SatAlgorithm;
using gpu::SatMemory;
using gpu::SatType;

// Algorithms may take different ways for these.
struct Tables {
  SatType type;
  bool has_squares;
};
constexpr Tables all_tables[]{
    {SatType::u8_u32, true}, {SatType::u8_u32, false}, {SatType::f64_f64, false}};

// A picture and its tables, a workspace and a stream of its own.
class Work {
 public:
  Work(const SatAlgorithm& sat, const Tables& tables, Size size)
      : sat_(sat),
        stream_(gpu::make_stream()),
        memory_(tables.type, size, tables.has_squares),
        workspace_(sat.workspace_bytes(tables.type, size)),
        wrong_(1) {
    if (workspace_.size() > 0) FACESAT_CUDA(cudaMemset(workspace_.data(), 0, workspace_.bytes()));
    FACESAT_CUDA(cudaMemset(wrong_.data(), 0, wrong_.bytes()));
    FACESAT_CUDA(cudaDeviceSynchronize());
    gpu::enqueue_fill(memory_.task(), static_cast<std::uint32_t>(size.width), stream_.get());
  }
  void enqueue() {
    memory_.poison(stream_.get());
    gpu::SatTask task = memory_.task();
    task.parameter = sat_.value;
    sat_.enqueue(task, workspace_.data(), stream_.get());
    gpu::enqueue_check(memory_.task(), wrong_.data(), stream_.get());
  }
  // Waits for all enqueued work; returns the number of wrong elements since the beginning.
  unsigned wrong_elements() {
    unsigned wrong = 0;
    FACESAT_CUDA(cudaMemcpyAsync(&wrong, wrong_.data(), sizeof wrong, cudaMemcpyDeviceToHost,
                                 stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return wrong;
  }

 private:
  const SatAlgorithm& sat_;
  gpu::Stream stream_;
  SatMemory memory_;
  gpu::Buffer<std::byte> workspace_;
  gpu::Buffer<unsigned> wrong_;
};

class SatConcurrency : public ::testing::TestWithParam<const SatAlgorithm*> {
 protected:
  const SatAlgorithm& sat = *GetParam();
  // Algorithms with one launch per anti-diagonal have no blocks that wait for each other; large
  // pictures with thousands of launches would only take long.
  const bool has_many_launches = sat.launches == 0;
};

TEST_P(SatConcurrency, FinishesOnHalfOfTheDevice) {
  // Many more tiles than fit; the last two are small pictures.
  std::vector<Size> sizes{{8192, 8192}, {32768, 1024}, {512, 32768}, {2048, 2048}, {22528, 128}};
  if (has_many_launches) sizes = {{1024, 1024}};
  for (const Tables& tables : all_tables)
    for (const Size size : sizes) {
      const Watchdog watchdog(std::string(sat.id) + " on half of the device");
      Work work(sat, tables, size);
      work.enqueue();  // loads the kernels: loading may wait for a running kernel
      ASSERT_EQ(work.wrong_elements(), 0u);
      const HeldHalf half;
      for (int round = 0; round < 3; ++round) work.enqueue();
      EXPECT_EQ(work.wrong_elements(), 0u)
          << gpu::info_of(tables.type).name << " " << size.width << "x" << size.height;
      EXPECT_TRUE(half.is_held()) << "it finished only when the device was free again";
    }
}

TEST_P(SatConcurrency, TwoPicturesAtOnce) {
  for (const Tables& tables : all_tables) {
    const Watchdog watchdog(std::string(sat.id) + " on two pictures at once");
    Work one(sat, tables, {1920, 1080}), other(sat, tables, {1283, 2049});
    const auto go = [&] {
      for (int left = has_many_launches ? 3 : 30; left > 0; --left) {
        one.enqueue();
        other.enqueue();
      }
      EXPECT_EQ(one.wrong_elements(), 0u) << gpu::info_of(tables.type).name;
      EXPECT_EQ(other.wrong_elements(), 0u) << gpu::info_of(tables.type).name;
    };
    go();
    const HeldHalf half;
    go();
    EXPECT_TRUE(half.is_held()) << "they finished only when the device was free again";
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, SatConcurrency,
                         ::testing::ValuesIn(gpu::sat_algorithms().begin(),
                                             gpu::sat_algorithms().end()),
                         [](const auto& tested) { return std::string(tested.param->id); });

}  // namespace
}  // namespace facesat::test

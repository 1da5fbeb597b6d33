// The contract of kernels/scan/algorithm.hpp, for every algorithm in the registry.
#include <cmath>
#include <limits>
#include <set>
#include <type_traits>

#include "facesat.hpp"
#include "kernels/scan/algorithm.hpp"
#include "kernels/scan/operators.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::test {
namespace {

using gpu::ScanAlgorithm;
using gpu::ScanOperator;
using gpu::ScanSettings;
using gpu::ScanTask;
using gpu::ScanType;

constexpr ScanOperator operators[] = {ScanOperator::sum, ScanOperator::product,
                                      ScanOperator::minimum, ScanOperator::maximum,
                                      ScanOperator::compose};

// Elements around which an array is poisoned; keeps it on a 16-byte boundary.
constexpr int guard = 16;

#if !defined(FACESAT_SIMT)

// Zeroed memory of the host that the device can access.
class MappedMemory {
 public:
  explicit MappedMemory(std::size_t bytes) : memory_(bytes) {
    std::fill_n(memory_.data(), bytes, std::byte{});
  }
  void* data() const { return memory_.data(); }

 private:
  gpu::PinnedBuffer<std::byte> memory_;
};

#else

class MappedMemory {
 public:
  explicit MappedMemory(std::size_t bytes) : memory_(bytes + 16) {}
  void* data() { return memory_.data(); }

 private:
  std::vector<std::byte> memory_;
};

#endif

class Workspace {
 public:
  Workspace(const ScanAlgorithm& algorithm, const ScanTask& task) {
    const std::size_t bytes = algorithm.workspace_bytes(task);
    if (algorithm.needs_mapped_memory && algorithm.needs_mapped_memory(task.settings))
      mapped_ = std::make_unique<MappedMemory>(bytes);
    else
      device_ = std::make_unique<DeviceArray<std::byte>>(std::vector<std::byte>(bytes));
  }
  void* data() const { return mapped_ ? mapped_->data() : device_->data(); }

 private:
  std::unique_ptr<MappedMemory> mapped_;
  std::unique_ptr<DeviceArray<std::byte>> device_;
};

// Values whose scans are exact in any order of operations. Sums of real numbers: small integers of
// both signs. Products of real numbers: powers of two, few of which are not 1, of both signs. Maps:
// an odd a, or 1 and -1, and sums as b.
template <class T>
std::vector<T> exact_values(ScanOperator op, int n, unsigned seed) {
  if constexpr (gpu::is_affine<T>) {
    using Number = decltype(T::a);
    const auto b = exact_values<Number>(ScanOperator::sum, n, seed);
    std::mt19937 random(seed + 1);
    std::vector<T> maps;
    for (const Number shift : b) {
      const std::uint32_t bits = static_cast<std::uint32_t>(random());
      const Number sign = bits & 2 ? Number{1} : static_cast<Number>(-1);
      maps.push_back({std::is_integral_v<Number> ? static_cast<Number>(bits | 1) : sign, shift});
    }
    return maps;
  } else {
    std::mt19937 random(seed);
    std::vector<T> values(static_cast<std::size_t>(n));
    int exponent = 0;
    for (T& value : values) {
      const std::uint32_t bits = static_cast<std::uint32_t>(random());
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(static_cast<std::uint64_t>(bits) << 32 | random());
        if (op == ScanOperator::product) value = static_cast<T>(value | 1);  // never all zeros
      } else if (op == ScanOperator::product) {
        const int step = bits % 16 ? 0 : exponent > 8 ? -1 : exponent < -8 ? 1 : bits & 32 ? 1 : -1;
        exponent += step;
        value = static_cast<T>(std::ldexp(bits & 64 ? 1.0 : -1.0, step));
      } else {
        value = static_cast<T>(static_cast<int>(bits % 31) - 15);
      }
    }
    return values;
  }
}

// Runs the task on `values` and calls use(results), the second time on a workspace that was used
// for other values before. Expects nothing written outside the output, and the input unchanged.
template <class T, class Use>
void run(const ScanAlgorithm& algorithm, ScanTask task, const std::vector<T>& values, bool in_place,
         const std::string& what, Use use) {
  const T poison{77};
  const std::size_t n = values.size();
  std::vector<T> guarded(n + 2 * guard, poison), other = guarded;
  std::copy(values.begin(), values.end(), guarded.begin() + guard);
  std::copy(values.rbegin(), values.rend(), other.begin() + guard);
  DeviceArray<T> input(guarded), output(std::vector<T>(n + 2 * guard, poison));
  const Workspace workspace(algorithm, task);
  for (const std::vector<T>* contents : {&other, &guarded}) {
    DeviceArray<T>& target = in_place ? input : output;
    input.upload(*contents);
    output.upload(std::vector<T>(n + 2 * guard, poison));
    task.input = input.data() + guard;
    task.output = target.data() + guard;
    algorithm.enqueue(task, workspace.data(), test_stream());
    if (contents == &other) continue;
    const std::vector<T> results = target.download();
    for (int i = 0; i < guard; ++i) {
      ASSERT_EQ(results[static_cast<std::size_t>(i)], poison) << what << ": before the array";
      ASSERT_EQ(results[results.size() - 1 - static_cast<std::size_t>(i)], poison)
          << what << ": past the array";
    }
    if (!in_place) {
      ASSERT_EQ(input.download(), guarded) << what << ": the input was written";
    }
    use(std::vector<T>(results.begin() + guard, results.end() - guard));
  }
}

std::string text_of(const ScanAlgorithm& algorithm, const ScanTask& task, bool in_place) {
  return std::string(algorithm.id) + ":" + gpu::settings_text(algorithm, task.settings) + ", " +
         std::string(gpu::info_of(task.type).name) + " " + std::string(gpu::name_of(task.op)) +
         (task.is_inclusive ? " inclusive" : " exclusive") + ", order " +
         std::to_string(task.order) + ", tuples of " + std::to_string(task.tuple) +
         (in_place ? " in place, n = " : ", n = ") + std::to_string(task.n);
}

template <class T>
std::string text_of_element(T element) {
  if constexpr (gpu::is_affine<T>)
    return std::to_string(element.a) + " x + " + std::to_string(element.b);
  else
    return std::to_string(element);
}

void check(const ScanAlgorithm& algorithm, const ScanTask& task, bool in_place) {
  gpu::visit_type(task.type, [&]<class T>(T) {
    const std::vector<T> values = exact_values<T>(task.op, task.n, static_cast<unsigned>(task.n));
    std::vector<T> expected(values.size());
    ScanTask reference = task;
    reference.input = values.data();
    reference.output = expected.data();
    gpu::scan_reference(reference);
    const std::string what = text_of(algorithm, task, in_place);
    run<T>(algorithm, task, values, in_place, what, [&](const std::vector<T>& results) {
      const auto [wrong, right] = std::mismatch(results.begin(), results.end(), expected.begin());
      if (wrong != results.end())
        ADD_FAILURE() << what << ": element " << wrong - results.begin() << " is "
                      << text_of_element(*wrong) << ", expected " << text_of_element(*right);
    });
  });
}

ScanTask task_of(const ScanAlgorithm& algorithm, int n, ScanType type = ScanType::u32,
                 ScanOperator op = ScanOperator::sum, bool is_inclusive = true) {
  return {.type = type,
          .op = op,
          .is_inclusive = is_inclusive,
          .n = n,
          .settings = gpu::standard_settings(algorithm)};
}

// All combinations of the parameters' choices, smallest first. On the host, where every thread
// costs a fibre, only the two smallest numbers of threads and the smallest of blocks.
std::vector<ScanSettings> tested_settings(const ScanAlgorithm& algorithm) {
  std::vector<ScanSettings> all{{}};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const auto& [name, meaning, standard, choices] = algorithm.parameters[i];
    const std::size_t most = name == "threads" ? 2 : name == "blocks" ? 1 : choices.size();
    std::vector<ScanSettings> next;
    for (const ScanSettings& settings : all)
      for (const int choice : on_gpu ? choices : choices.first(std::min(most, choices.size()))) {
        if (!on_gpu && name == "variant" && choice % 2 == 1) continue;  // with a cache of a GPU
        next.push_back(settings);
        next.back()[i] = choice;
      }
    all = std::move(next);
  }
  return all;
}

// Settings that are quick on the host.
ScanSettings small_settings(const ScanAlgorithm& algorithm) {
  return on_gpu ? gpu::standard_settings(algorithm) : tested_settings(algorithm).front();
}

class Scan : public ::testing::TestWithParam<const ScanAlgorithm*> {};

// Tiles have from 64 to 16384 elements, of powers of two and of multiples of 15.
TEST_P(Scan, LengthsAroundTileEdges) {
  std::vector<int> lengths{1, 2, 3, 31, 33, 63, 64, 65, 127, 129, 257, 959, 961, 3001};
  if (on_gpu)
    for (const int n : {511, 512, 513, 2047, 2049, 4095, 4097, 8191, 8193, 16385, 65537, 1000003,
                        (1 << 20), (1 << 20) + 1, 16777259})
      lengths.push_back(n);
  for (const int n : lengths) {
    ScanTask task = task_of(*GetParam(), n);
    task.settings = small_settings(*GetParam());
    const auto body = [&] {
      check(*GetParam(), task, false);
      task.is_inclusive = !task.is_inclusive;
      check(*GetParam(), task, true);
      task.is_inclusive = !task.is_inclusive;
    };
    if (n < 70 || n == 961)
      under_all_schedules(body);
    else
      under_one_schedule(body);
  }
}

#if defined(FACESAT_SIMT)
// A look-back computes itself what a halted block does not publish. A chain needs every block.
TEST(ScanFallback, NoBlockNeedsOneThatIsHalted) {
  const auto scan = [](const ScanAlgorithm& algorithm) {
    for (const auto& [type, op] : {std::pair{ScanType::u32, ScanOperator::sum},
                                   {ScanType::affine_u32, ScanOperator::compose}}) {
      ScanTask task = task_of(algorithm, 20003, type, op);
      task.settings = small_settings(algorithm);
      with_a_halted_block([&] { check(algorithm, task, false); });
    }
  };
  scan(gpu::merrill_2016);
  scan(gpu::facesat_scan);
  scan(gpu::dakkak_2019_tensor);
  EXPECT_THROW(scan(gpu::yan_2013_streamscan), simt::Undefined);
  simt::set_schedule({});
}
#endif

TEST_P(Scan, OperandsKeepTheirPlaces) {
  for (const int n : {65, 3001, on_gpu ? 4000037 : 8200}) {
    ScanTask task = task_of(*GetParam(), n, ScanType::affine_u32, ScanOperator::compose);
    task.settings = small_settings(*GetParam());
    under_one_schedule([&] { check(*GetParam(), task, false); });
  }
}

TEST_P(Scan, AllTypesOperatorsAndKinds) {
  const int n = on_gpu ? 300007 : 331;
  for (const gpu::ScanTypeInfo& type : gpu::scan_types)
    for (const ScanOperator op : operators)
      for (const bool is_inclusive : {true, false})
        for (const bool in_place : {false, true}) {
          if (!gpu::applies(op, type.type)) continue;
          ScanTask task = task_of(*GetParam(), n, type.type, op, is_inclusive);
          task.settings = small_settings(*GetParam());
          under_one_schedule([&] { check(*GetParam(), task, in_place); });
        }
}

TEST_P(Scan, AllSettings) {
  const int n = on_gpu ? 300007 : 700;
  bool in_place = false;
  for (const ScanSettings& settings : tested_settings(*GetParam())) {
    for (ScanTask task : {task_of(*GetParam(), n, ScanType::f32),
                          task_of(*GetParam(), n, ScanType::affine_u32, ScanOperator::compose)}) {
      task.settings = settings;
      under_one_schedule([&] { check(*GetParam(), task, in_place); });
    }
    in_place = !in_place;
  }
}

// The rounding error of a sum of n terms, in whatever order, is at most n * epsilon / 2 times the
// sum of magnitudes (to first order; the factor 1.01 covers the rest for n * epsilon < 0.01).
template <class Real>
void check_reals(const ScanAlgorithm& algorithm, ScanType type) {
  const int n = on_gpu ? 70001 : 501;
  std::mt19937 random(5);
  std::vector<Real> values(static_cast<std::size_t>(n));
  for (Real& value : values)
    value = static_cast<Real>(static_cast<double>(random()) / 4294967296.0 - 0.3);
  ScanTask task = task_of(algorithm, n, type);
  task.settings = small_settings(algorithm);
  const std::string what = text_of(algorithm, task, false);
  run<Real>(algorithm, task, values, false, what, [&](const std::vector<Real>& results) {
    long double exact = 0, magnitudes = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      exact += values[i];
      magnitudes += std::abs(values[i]);
      const long double bound = 1.01L * static_cast<long double>(i) *
                                std::numeric_limits<Real>::epsilon() / 2 * magnitudes;
      ASSERT_LE(std::abs(results[i] - exact), bound) << what << " at " << i;
    }
  });
}

TEST_P(Scan, RealNumbersAreWithinTheRoundingError) {
  under_one_schedule([&] {
    check_reals<float>(*GetParam(), ScanType::f32);
    check_reals<double>(*GetParam(), ScanType::f64);
  });
}

// Infinities, NaN and sums that overflow change no element before them.
template <class Real>
void check_large(const ScanAlgorithm& algorithm, ScanType type) {
  using Limits = std::numeric_limits<Real>;
  constexpr std::size_t n = 501, first = 300;
  ScanTask task = task_of(algorithm, n, type);
  task.settings = small_settings(algorithm);
  for (const Real large : {Limits::infinity(), Limits::quiet_NaN(), Limits::max()}) {
    std::vector<Real> values(n, Real{1});
    values[first] = values[first + 1] = large;
    const std::string what = text_of(algorithm, task, false) + ", " + std::to_string(large);
    run<Real>(algorithm, task, values, true, what, [&](const std::vector<Real>& results) {
      for (std::size_t i = 0; i < first; ++i)
        ASSERT_EQ(results[i], static_cast<Real>(i + 1)) << what << " at " << i;
      for (std::size_t i = first + 1; i < n; ++i)
        ASSERT_TRUE(std::isnan(large) ? std::isnan(results[i]) : std::isinf(results[i]))
            << what << " at " << i << ": " << results[i];
    });
  }
}

TEST_P(Scan, LargeNumbersChangeNothingBeforeThem) {
  under_one_schedule([&] {
    check_large<float>(*GetParam(), ScanType::f32);
    check_large<double>(*GetParam(), ScanType::f64);
  });
}

// Those that take orders and tuples.
class ScanOrders : public ::testing::TestWithParam<const ScanAlgorithm*> {};

std::vector<const ScanAlgorithm*> with_orders() {
  std::vector<const ScanAlgorithm*> all;
  for (const ScanAlgorithm* const algorithm : gpu::scan_algorithms())
    if (algorithm->most_order > 1 || algorithm->most_tuple > 1) all.push_back(algorithm);
  return all;
}

// Tiles of the smallest settings have 384 elements, with tuples of 3 and 5 only 378 and 375.
TEST_P(ScanOrders, LengthsAroundTileEdges) {
  std::vector<int> lengths{1, 2, 4, 5, 6, 31, 374, 375, 376, 378, 379, 384, 385, 751, 1153, 3001};
  if (on_gpu)
    for (const int n : {13440, 13446, 13824, 65537, 1000003}) lengths.push_back(n);
  for (const int order : {1, 2, 3, 8})
    for (const int tuple : {1, 2, 3, 5, 8})
      for (const int n : lengths) {
        ScanTask task = task_of(*GetParam(), n);
        task.settings = small_settings(*GetParam());
        task.order = order;
        task.tuple = tuple;
        task.is_inclusive = n % 2 == 1;
        const bool in_place = n % 4 == 0;
        const auto body = [&] { check(*GetParam(), task, in_place); };
        if (n == 385 || n == 751)
          under_all_schedules(body);
        else
          under_one_schedule(body);
      }
}

// Of orders above 1, results of real numbers are not exact.
TEST_P(ScanOrders, AllTypesOperatorsAndKinds) {
  const int n = on_gpu ? 300007 : 1501;
  for (const gpu::ScanTypeInfo& type : gpu::scan_types)
    for (const ScanOperator op : operators)
      for (const int order : {1, 2})
        for (const bool is_inclusive : {true, false}) {
          const bool is_real = type.type == ScanType::f32 || type.type == ScanType::f64 ||
                               type.type == ScanType::affine_f32;
          if (!gpu::applies(op, type.type) || (is_real && order > 1)) continue;
          ScanTask task = task_of(*GetParam(), n, type.type, op, is_inclusive);
          task.settings = small_settings(*GetParam());
          task.order = order;
          task.tuple = 3;
          under_one_schedule([&] { check(*GetParam(), task, is_inclusive); });
        }
}

TEST_P(ScanOrders, AllSettings) {
  const int n = on_gpu ? 300007 : 9000;
  for (const ScanSettings& settings : tested_settings(*GetParam()))
    for (ScanTask task : {task_of(*GetParam(), n, ScanType::s32),
                          task_of(*GetParam(), n, ScanType::affine_u32, ScanOperator::compose)}) {
      task.settings = settings;
      task.order = 2;
      task.tuple = 7;
      under_one_schedule([&] { check(*GetParam(), task, false); });
    }
}

#if !defined(FACESAT_SIMT)
TEST_P(ScanOrders, LongArrays) {
  ScanTask task = task_of(*GetParam(), (1 << 26) + 5);
  task.order = 3;
  check(*GetParam(), task, false);
  task.tuple = 5;
  check(*GetParam(), task, false);
}
#endif

INSTANTIATE_TEST_SUITE_P(Registry, ScanOrders, ::testing::ValuesIn(with_orders()),
                         [](const auto& tested) { return std::string(tested.param->id); });

TEST(ScanRegistry, AlgorithmsSayWhichOrdersAndTuplesTheyTake) {
  ScanTask task = task_of(gpu::merrill_2016, 100);
  EXPECT_EQ(gpu::why_not(gpu::merrill_2016, task), "");
  EXPECT_EQ(gpu::why_not(gpu::maleki_2016_sam, task), "");
  task.order = 2;
  EXPECT_EQ(gpu::why_not(gpu::merrill_2016, task), "for scans of order 1 only");
  task.order = gpu::most_scan_order + 1;
  EXPECT_EQ(gpu::why_not(gpu::maleki_2016_sam, task), "orders from 1 to 8");
  task.order = 1;
  task.tuple = 2;
  EXPECT_EQ(gpu::why_not(gpu::merrill_2016, task), "for single elements only");
  task.tuple = gpu::most_scan_tuple + 1;
  EXPECT_EQ(gpu::why_not(gpu::maleki_2016_sam, task), "tuples of 1 to 8");
  task.order = task.tuple = 8;
  EXPECT_EQ(gpu::why_not(gpu::maleki_2016_sam, task), "");
}

// By hand.
TEST(ScanReference, RepeatsAndInterleaves) {
  const auto scanned = [](int order, int tuple, bool is_inclusive) {
    const std::vector<std::uint32_t> input{3, 1, 4, 1, 5};
    std::vector<std::uint32_t> output(input.size());
    gpu::scan_reference({.is_inclusive = is_inclusive,
                         .n = 5,
                         .input = input.data(),
                         .output = output.data(),
                         .order = order,
                         .tuple = tuple});
    return output;
  };
  using Elements = std::vector<std::uint32_t>;
  EXPECT_EQ(scanned(1, 1, true), (Elements{3, 4, 8, 9, 14}));
  EXPECT_EQ(scanned(2, 1, true), (Elements{3, 7, 15, 24, 38}));
  EXPECT_EQ(scanned(2, 1, false), (Elements{0, 0, 3, 7, 15}));
  EXPECT_EQ(scanned(1, 2, true), (Elements{3, 1, 7, 2, 12}));
  EXPECT_EQ(scanned(2, 2, true), (Elements{3, 1, 10, 3, 22}));
  EXPECT_EQ(scanned(1, 2, false), (Elements{0, 0, 3, 1, 7}));
  EXPECT_EQ(scanned(1, 8, true), (Elements{3, 1, 4, 1, 5}));
}

#if !defined(FACESAT_SIMT)
// Many more tiles than blocks are resident, and three levels of recursion.
TEST_P(Scan, LongArrays) {
  check(*GetParam(), task_of(*GetParam(), (1 << 26) + 5), false);
}
#endif

INSTANTIATE_TEST_SUITE_P(Registry, Scan,
                         ::testing::ValuesIn(gpu::scan_algorithms().begin(),
                                             gpu::scan_algorithms().end()),
                         [](const auto& tested) { return std::string(tested.param->id); });

TEST(ScanRegistry, IdsAreUniqueAndFound) {
  std::set<std::string_view> ids;
  for (const ScanAlgorithm* algorithm : gpu::scan_algorithms()) {
    EXPECT_TRUE(ids.insert(algorithm->id).second) << algorithm->id;
    EXPECT_EQ(gpu::find_scan(algorithm->id), algorithm);
    EXPECT_LE(algorithm->parameters.size(), gpu::most_scan_parameters);
    for (const gpu::ScanParameter& parameter : algorithm->parameters)
      EXPECT_EQ(std::count(parameter.choices.begin(), parameter.choices.end(), parameter.standard),
                1)
          << algorithm->id << ", " << parameter.name;
    const gpu::ScanCost cost = algorithm->cost(task_of(*algorithm, 1 << 20));
    EXPECT_GE(cost.launches, 1);
    EXPECT_GE(cost.reads, 1);
    EXPECT_GE(cost.writes, 1);
  }
  EXPECT_EQ(gpu::find_scan("no such algorithm"), nullptr);
}

std::string refusal_of(const std::string& text) {
  return message_of<ArgumentError>([&] { gpu::parse_scan(text); });
}

TEST(ScanRegistry, SettingsAreReadFromText) {
  const gpu::ScanChoice standard = gpu::parse_scan("merrill_2009");
  EXPECT_EQ(standard.algorithm, &gpu::merrill_2009);
  EXPECT_EQ(standard.settings, gpu::standard_settings(gpu::merrill_2009));
  const gpu::ScanChoice given = gpu::parse_scan("merrill_2009:blocks=128,threads=64");
  EXPECT_EQ(gpu::settings_text(gpu::merrill_2009, given.settings), "threads=64,blocks=128");
  EXPECT_TRUE(
      has(refusal_of("merrill"), "there is no scan algorithm \"merrill\"; known are facesat"));
  EXPECT_EQ(refusal_of("merrill_2009:bloks=1"),
            "the scan algorithm merrill_2009: no parameter \"bloks\"; known are threads, blocks");
  for (const char* text : {"merrill_2009:threads=65", "merrill_2009:threads=",
                           "merrill_2009:threads", "merrill_2009:threads=64x"})
    EXPECT_EQ(refusal_of(text),
              "the scan algorithm merrill_2009: threads must be one of 64, 128, 256, 512");
  EXPECT_NE(refusal_of("merrill_2009:"), "");
  EXPECT_NE(refusal_of("merrill_2009:threads=64,"), "");
  EXPECT_EQ(refusal_of("horn_2005:threads=64"),
            "the scan algorithm horn_2005: no parameter \"threads\"; known are none");
}

}  // namespace
}  // namespace facesat::test

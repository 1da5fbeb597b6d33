// Filters on the GPU, for the measurement in lab/problems/filter.cpp.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "filters/cpu/filter.hpp"
#include "kernels/device/cuda.hpp"
#include "kernels/filter/pass.cuh"
#include "kernels/filter/statistics.hpp"
#include "kernels/filter/uploaded_mask.hpp"
#include "lab/problems/filter.hpp"
#include "lab/problems/sat.hpp"
#include "lab/stream_timer.cuh"

namespace facesat::gpu {
namespace {

constexpr int block_width = 32, block_height = 8;
constexpr double most_products = 0x1p37;  // of a run; more would take seconds
constexpr const char* too_much = "it would take too long";

// Reads and writes 16 bytes at a time.
__global__ void copy_kernel(View<const uint4> from, View<uint4> to) {
  const auto [x, y] = pixel_of_thread();
  if (x < to.size.width && y < to.size.height) to.row(y)[x] = from.row(y)[x];
}

// Counts the elements of a part of the result that differ.
template <class T>
__global__ void count_wrong_kernel(View<const T> result, View<const T> expected, unsigned* wrong) {
  const auto [x, y] = pixel_of_thread();
  if (x < result.size.width && y < result.size.height && result.row(y)[x] != expected.row(y)[x])
    atomicAdd(wrong, 1u);
}

// Of a convolution; statistics have none of their own.
template <class In, class Out>
constexpr FilterType filter_type = std::is_same_v<In, float>          ? FilterType::f32_f32
                                   : std::is_same_v<In, std::int32_t> ? FilterType::s32_s32
                                   : sizeof(Out) == 1                 ? FilterType::u8_u8
                                                                      : FilterType::u8_s32;
// Of a table whose elements are as large as the results.
template <class In>
constexpr SatType floor_type = std::is_same_v<In, float>          ? SatType::f32_f32
                               : std::is_same_v<In, std::int32_t> ? SatType::s32_s32
                                                                  : SatType::u8_u32;

// What the CPU computes.
template <class Out>
Image<Out> expected_windows(const FilterCase& task, Radius radius) {
  Image<Out> result(task.picture.size);
  const View<Out> to = result.view();
  cpu::IntegralImages tables;
  const auto build = [&](cpu::Powers powers) -> const cpu::IntegralImages& {
    tables.build(task.picture, powers, radius);
    return tables;
  };
  if constexpr (std::is_same_v<Out, float>) {
    if (task.filter == BenchFilter::variance)
      cpu::variance(build(cpu::Powers::squares), radius, task.border, to);
    else
      cpu::skewness(build(cpu::Powers::cubes), radius, task.border, to);
  } else if constexpr (sizeof(Out) == 1) {
    if (task.filter == BenchFilter::box)
      cpu::box_mean(build(cpu::Powers::pixels), radius, task.border, to);
    else
      cpu::adaptive_threshold(build(cpu::Powers::pixels), task.picture, radius, task.border,
                              bench_offset, to);
  }
  return result;
}
template <class Out, class In, class W>
Image<Out> expected_result(const FilterCase& task, View<const In> picture, const Mask<W>& mask) {
  if constexpr (sizeof(In) == 1) {
    if (is_statistic(task.filter) || task.filter == BenchFilter::box)
      return expected_windows<Out>(task, mask.radius);
  }
  Image<Out> result(picture.size);
  if constexpr (sizeof(In) > 1 || std::is_integral_v<Out>) {
    if (mask.is_separable())
      cpu::convolve_separable(picture, mask, task.border, result.view());
    else
      cpu::convolve_direct(picture, mask, task.border, result.view());
  }
  return result;
}

template <class T>
void put(View<const T> from, DeviceImage<T>& to, StreamHandle stream) {
  to.resize(from.size, DeviceImage<T>::Border::none, stream);
  FACESAT_CUDA(cudaMemcpy2DAsync(
      to.view().data, static_cast<std::size_t>(to.view().pitch) * sizeof(T), from.data,
      static_cast<std::size_t>(from.pitch) * sizeof(T),
      static_cast<std::size_t>(from.size.width) * sizeof(T),
      static_cast<std::size_t>(from.size.height), cudaMemcpyHostToDevice, stream));
  FACESAT_CUDA(cudaStreamSynchronize(stream));
}

// Calls floor(offset, size, in_pitch, out_pitch) for a picture, or for a long signal as one of
// shorter rows, whose blocks have work for all of their threads; what is left over is a second
// picture.
template <class Floor>
void for_each_block_of_rows(Size size, std::ptrdiff_t in_pitch, std::ptrdiff_t out_pitch,
                            Floor floor) {
  constexpr int row = 1 << 14;
  if (size.height > 1 || size.width < row) return floor(0, size, in_pitch, out_pitch);
  const int rows = size.width / row, rest = size.width % row;
  floor(0, Size{row, rows}, row, row);
  if (rest > 0) floor(std::ptrdiff_t{row} * rows, Size{rest, 1}, in_pitch, out_pitch);
}

// Pictures and results in device memory, and the right result.
template <class In, class Out>
class FilterInputs {
 public:
  using W = WeightOf<In>;
  struct Copy {
    DeviceImage<In> input;
    DeviceImage<Out> output;
  };

  explicit FilterInputs(const FilterCase& one)
      : one_(one),
        size_(one.picture.size),
        picture_(one.typed_picture<In>()),
        mask_(one.mask<W>(), timer_.stream()),
        copies_(
            one.bytes(),
            [&](std::size_t) {
              Copy copy;
              put(picture(), copy.input, timer_.stream());
              copy.output.resize(size_, DeviceImage<Out>::Border::none, timer_.stream());
              return copy;
            },
            [this](const Copy& copy) {
              const View<Out> all = copy.output.view();
              FACESAT_CUDA(
                  cudaMemset2DAsync(all.data, static_cast<std::size_t>(all.pitch) * sizeof(Out),
                                    0xEE, static_cast<std::size_t>(size_.width) * sizeof(Out),
                                    static_cast<std::size_t>(size_.height), timer_.stream()));
            }) {
    // Of a convolution with too many weights, nothing is measured.
    if (one.filter == BenchFilter::convolution && is_too_much()) return;
    const Image<Out> right = expected_result<Out>(one, picture(), mask_.on_host());
    put(right.view(), expected_, timer_.stream());
  }
  FilterInputs(const FilterInputs&) = delete;
  FilterInputs& operator=(const FilterInputs&) = delete;

  // The time of enqueue(copy, stream) on the next copy.
  template <class Enqueue>
  double run(int launches, Enqueue enqueue) {
    const Copy& copy = copies_.next();
    return timer_.us(launches, [&] { enqueue(copy, timer_.stream()); });
  }

  // The outermost `valid` pixels are not looked at.
  bool is_right(Radius valid, const DeviceImage<Out>& expected) {
    const Rect part{valid.x, valid.y, size_.width - 2 * valid.x, size_.height - 2 * valid.y};
    if (part.width < 1 || part.height < 1) return true;
    return timer_.finds_nothing_wrong([&](unsigned* wrong) {
      count_wrong_kernel<Out><<<grid_of({part.width, part.height}, block_width, block_height),
                                dim3(block_width, block_height), 0, timer_.stream()>>>(
          copies_.current().output.view().sub(part), expected.view().sub(part), wrong);
      check(cudaGetLastError(), "launch of count_wrong_kernel");
    });
  }
  const DeviceImage<Out>& expected() const { return expected_; }

  // Whether a filter that reads whole windows would take too long.
  bool is_too_much() const {
    return static_cast<double>(mask_.on_host().radius.area()) * static_cast<double>(size_.area()) >
           most_products;
  }

  FilterTask task_of(const Copy& copy) const {
    return {.type = filter_type<In, Out>,
            .size = size_,
            .input = copy.input.view().data,
            .input_pitch = copy.input.view().pitch,
            .output = copy.output.view().data,
            .output_pitch = copy.output.view().pitch,
            .border = one_.border,
            .mask = mask_.mask()};
  }
  StatisticTask statistic_of(const Copy& copy) const {
    return {.statistic = one_.filter == BenchFilter::variance   ? Statistic::variance
                         : one_.filter == BenchFilter::skewness ? Statistic::skewness
                                                                : Statistic::threshold,
            .picture = copy.input.view(),
            .output = copy.output.view().data,
            .output_pitch = copy.output.view().pitch,
            .radius = mask_.on_host().radius,
            .border = one_.border,
            .offset = bench_offset};
  }

  const FilterCase& one() const { return one_; }
  const Copy& first() const { return copies_.first(); }
  const Mask<W>& mask() const { return mask_.on_host(); }
  StreamHandle stream() const { return timer_.stream(); }

 private:
  View<const In> picture() const { return picture_.view(); }

  FilterCase one_;
  Size size_;
  lab::StreamTimer timer_;
  Image<In> picture_;
  UploadedMask<W> mask_;
  lab::Rotation<Copy> copies_;
  DeviceImage<Out> expected_;
};

// The rows of one case.
template <class In, class Out>
class FilterRows {
 public:
  using Inputs = FilterInputs<In, Out>;
  using Copy = typename Inputs::Copy;
  explicit FilterRows(const FilterCase& one) : inputs_(std::make_shared<Inputs>(one)) {}

  lab::Subject floor() const {
    return unchecked("floor", 1, [](const Inputs& inputs, const Copy& copy, StreamHandle stream) {
      const View<In> in = copy.input.view();
      const View<Out> out = copy.output.view();
      for_each_block_of_rows(
          inputs.one().picture.size, in.pitch, out.pitch,
          [&](std::ptrdiff_t at, Size size, std::ptrdiff_t in_pitch, std::ptrdiff_t out_pitch) {
            if constexpr (sizeof(Out) == 1) {
              const Size vectors{divide_up(size.width, 16), size.height};
              copy_kernel<<<grid_of(vectors, block_width, block_height),
                            dim3(block_width, block_height), 0, stream>>>(
                  {reinterpret_cast<const uint4*>(in.data + at), vectors, in_pitch / 16},
                  {reinterpret_cast<uint4*>(out.data + at), vectors, out_pitch / 16});
              check(cudaGetLastError(), "launch of copy_kernel");
            } else {
              enqueue_floor(SatTask{.type = floor_type<In>,
                                    .size = size,
                                    .input = in.data + at,
                                    .input_pitch = in_pitch,
                                    .sum = out.data + at,
                                    .sum_pitch = out_pitch},
                            stream);
            }
          });
    });
  }

  // Nothing if the id is not known.
  std::optional<lab::Subject> row(const std::string& id) const {
    if (id == "peer_npp") return npp();
    if constexpr (sizeof(In) == 1) {
      if (id == "direct_statistics") return direct_statistics();
      if (id == "integral_statistics") return integral_statistics();
    }
    if constexpr (sizeof(Out) == 1)
      if (id == "three_boxes") return three_boxes_row();
    if constexpr (sizeof(In) > 1 || std::is_integral_v<Out>)
      if (const FilterAlgorithm* const algorithm = find_filter(id)) return filter(*algorithm);
    return std::nullopt;
  }

 private:
  static lab::Subject absent(std::string id, std::string why) {
    return {.id = std::move(id), .failure = std::move(why), .is_absent = true};
  }

  // enqueue(inputs, copy, stream).
  template <class Enqueue>
  lab::Subject unchecked(std::string id, int launches, Enqueue enqueue) const {
    const auto run = [inputs = inputs_, launches, enqueue] {
      return inputs->run(std::max(launches, 4), [&](const Copy& copy, StreamHandle stream) {
        enqueue(*inputs, copy, stream);
      });
    };
    lab::Subject subject{.id = std::move(id), .bytes = inputs_->one().bytes(), .open = [run] {
                           return lab::Runner{run};
                         }};
    if (launches > 0) subject.fields["launches"] = launches;
    return subject;
  }

  // enqueue(inputs, copy, workspace, stream), with a check of what it computes.
  template <class Enqueue>
  lab::Subject checked(std::string id, int launches, double reads, std::size_t workspace_bytes,
                       Radius valid, Enqueue enqueue) const {
    lab::Subject subject{
        .id = std::move(id), .bytes = inputs_->one().bytes(), .workspace_bytes = workspace_bytes};
    if (reads > 0) subject.fields["reads"] = reads;
    if (launches > 0) subject.fields["launches"] = launches;
    subject.open = [=, inputs = inputs_] {
      const auto workspace = lab::zeroed_workspace(workspace_bytes, inputs->stream());
      return lab::Runner{[=] {
                           return inputs->run(std::max(launches, 4),
                                              [&](const Copy& copy, StreamHandle stream) {
                                                enqueue(*inputs, copy, workspace->data(), stream);
                                              });
                         },
                         [=] { return inputs->is_right(valid, inputs->expected()); }};
    };
    return subject;
  }

  lab::Subject filter(const FilterAlgorithm& algorithm) const {
    const FilterTask first = inputs_->task_of(inputs_->first());
    std::string why = why_not(algorithm, first);
    if (why.empty() && algorithm.takes == MaskKind::any && inputs_->is_too_much()) why = too_much;
    if (!why.empty()) return absent(std::string(algorithm.id), why);
    lab::Subject subject = checked(
        std::string(algorithm.id), algorithm.launches, algorithm.reads(first),
        algorithm.workspace_bytes(first),
        algorithm.is_valid_part ? inputs_->mask().radius : Radius{},
        [&algorithm](const Inputs& inputs, const Copy& copy, void* workspace, StreamHandle stream) {
          algorithm.enqueue(inputs.task_of(copy), workspace, stream);
        });
    if (algorithm.is_valid_part) subject.fields["valid_part"] = true;
    return subject;
  }

  lab::Subject direct_statistics() const {
    if (inputs_->is_too_much()) return absent("direct_statistics", too_much);
    return checked("direct_statistics", 1, static_cast<double>(inputs_->mask().radius.area()), 0,
                   {}, [](const Inputs& inputs, const Copy& copy, void*, StreamHandle stream) {
                     enqueue_direct_statistic(inputs.statistic_of(copy), stream);
                   });
  }

  lab::Subject integral_statistics() const {
    // Tables of 64 bits take more launches, as many as the SAT algorithm has.
    const bool is_known = inputs_->one().filter == BenchFilter::adaptive_threshold;
    return checked(
        "integral_statistics", is_known ? 2 : 0, 0,
        statistic_workspace_bytes(inputs_->statistic_of(inputs_->first())), {},
        [](const Inputs& inputs, const Copy& copy, void* workspace, StreamHandle stream) {
          enqueue_statistic(inputs.statistic_of(copy), workspace, stream);
        });
  }

  // An approximation: it is compared with the CPU's, not with the Gaussian.
  lab::Subject three_boxes_row() const {
    const FilterCase& one = inputs_->one();
    if (one.radius < 1) return absent("three_boxes", "radii from 1 on");
    const double sigma = sigma_of(one.radius);
    const auto expected = std::make_shared<DeviceImage<Out>>();
    lab::Subject subject = checked(
        "three_boxes", 6, 0, three_boxes_workspace_bytes(inputs_->statistic_of(inputs_->first())),
        {}, [sigma](const Inputs& inputs, const Copy& copy, void* workspace, StreamHandle stream) {
          enqueue_three_boxes(inputs.statistic_of(copy), three_boxes(sigma), copy.output.view(),
                              workspace, stream);
        });
    subject.open = [inputs = inputs_, expected, sigma, open = subject.open] {
      Image<std::uint8_t> own(inputs->one().picture.size);
      cpu::IntegralImages tables;
      cpu::three_box_means(inputs->one().picture, sigma, inputs->one().border, own.view(), tables);
      put(std::as_const(own).view(), *expected, inputs->stream());
      lab::Runner runner = open();
      runner.is_right = [inputs, expected] { return inputs->is_right({}, *expected); };
      return runner;
    };
    return subject;
  }

  lab::Subject npp() const {
    const NppFilter filter = npp_filter(inputs_->one());
    if (!filter.why_not.empty()) return absent("peer_npp", filter.why_not);
    return unchecked(
        "peer_npp", 0,
        [enqueue = filter.enqueue](const Inputs& inputs, const Copy& copy, StreamHandle stream) {
          enqueue(inputs.task_of(copy), stream);
        });
  }

  std::shared_ptr<Inputs> inputs_;
};

}  // namespace

lab::GpuSubjects filter_subjects(const FilterCase& one, int device,
                                 const std::vector<std::string>& ids) {
  FACESAT_CUDA(cudaSetDevice(device));
  lab::GpuSubjects all;
  visit_types(one, [&]<class In, class Out>(In, Out) {
    const FilterRows<In, Out> rows(one);
    all.subjects.push_back(rows.floor());
    for (const std::string& id : ids)
      if (const auto row = rows.row(id)) all.subjects.push_back(*row);
  });
  all.room = lab::room_for_workspaces();
  return all;
}

}  // namespace facesat::gpu

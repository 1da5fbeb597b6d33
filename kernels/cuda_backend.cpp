// The whole flow of one frame on the GPU: one stream, and one graph from the grey image to the
// classes of similar windows in host memory. Nothing in between waits for the host.
#include "kernels/cuda_backend.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include "core/image.hpp"
#include "kernels/cascade/device_late_stages.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "kernels/cascade/window_buffers.hpp"
#include "kernels/device/captured_graph.hpp"
#include "kernels/device/cuda.hpp"
#include "kernels/device/device_frame.hpp"
#include "kernels/device_plans.hpp"
#include "kernels/frame_input.hpp"
#include "kernels/image/atlas.hpp"
#include "kernels/image/steps.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {
namespace {

// Named ranges on the time line of NVIDIA's profilers; without one attached they cost nothing.
class NvtxRange {
 public:
  explicit NvtxRange(const char* name) { nvtxRangePushA(name); }
  ~NvtxRange() { nvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

// Counts a frame that is under way on a device. A picture that is searched with several cascades
// at the same time counts several times.
class FrameCount {
 public:
  explicit FrameCount(int device) : count_(under_way(device)) { ++count_; }
  ~FrameCount() { --count_; }
  FrameCount(const FrameCount&) = delete;
  FrameCount& operator=(const FrameCount&) = delete;

  // The frames of all backends of this process.
  static std::atomic<int>& under_way(int device) {
    static std::array<std::atomic<int>, 64> counts{};
    return counts[static_cast<std::size_t>(device) % counts.size()];
  }

 private:
  std::atomic<int>& count_;
};

// ---- the backend ----

using Border = DeviceImage<std::uint32_t>::Border;

class CudaBackend final : public Backend {
 public:
  CudaBackend(int device, const SatAlgorithm& sat, const CudaSettings& settings)
      : device_(device), sat_(sat), settings_(settings) {
    use_device();
    stream_ = make_stream();
    wait_ = std::make_unique<StreamWait>();
    input_ = std::make_unique<FrameInput>(stream_.get(), settings.measures_steps);
    download_end_ = make_event();
    found_ = std::make_unique<WindowBuffers>(stream_.get());
    most_pixels_ = settings.max_atlas_pixels > 0 ? settings.max_atlas_pixels : suitable_pixels();
  }
  // Waits until the device no longer uses the memory. Errors are ignored: destructors do not throw.
  ~CudaBackend() override {
    cudaSetDevice(device_);
    cudaStreamSynchronize(stream_.get());
  }

  void prepare(std::shared_ptr<const Cascade> cascade, const Pyramid& pyramid,
               const DetectOptions& options) override {
    const NvtxRange range("facesat prepare");
    use_device();
    // The next frame may already be decoded in the stream, which is not waited for.
    if (!std::exchange(is_idle_, false)) FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    graph_ = {};
    runs_ = runs_alone_ = 0;
    forget_windows();
    pyramid_ = &pyramid;
    cascade_ = std::move(cascade);
    options_ = options;
    found_->prepare(static_cast<int>(pyramid.levels.size()));
    atlas_plan_ = plan_atlas(pyramid, most_pixels_);
    allocate();
  }

  void stop_when(ShouldStop should_stop) override { should_stop_ = std::move(should_stop); }

  void load(View<const Bgr> frame) override { load_any(frame); }
  void load(View<const Rgb> frame) override { load_any(frame); }
  void load(View<const std::uint8_t> gray) override { load_any(gray); }
  void load(const ImageView& on_device) override { load_any(on_device); }

  void run() override {
    const NvtxRange range("facesat run");
    forget_windows();
    check_stop(should_stop_);
    use_device();
    is_idle_ = false;
    runs_alone_ = FrameCount::under_way(device_) == 0 ? runs_alone_ + 1 : 0;
    under_way_.emplace(device_);
    // An image size that occurs only once is worth neither measurements nor a graph.
    if (++runs_ > 1 && late_is_open_) decide_late();
    if (runs_ == 1) {
      enqueue_frame(cudaEventRecordDefault);
    } else {
      if (graph_.is_empty()) capture();
      graph_.launch(stream_.get());
    }
  }

  std::size_t collect() override {
    const NvtxRange range("facesat collect");
    check_stop(should_stop_);
    use_device();
    wait_->wait(stream_.get());
    while (found_->overflowed()) {  // rare: more candidates than the buffers hold
      graph_ = {};                  // its launches use the buffers that are freed now
      found_->grow();
      enqueue_frame(cudaEventRecordDefault);
      wait_->wait(stream_.get());
    }
    if (found_->were_unexpectedly_many()) {
      graph_ = {};
      found_->enqueue_rest(stream_.get());
      wait_->wait(stream_.get());
    }
    if (under_way_) windows_.reset();
    under_way_.reset();
    is_idle_ = true;
    return found_->count();
  }

  std::span<const Window> windows() override {
    if (!windows_) {
      use_device();
      windows_ = windows_of(found_->windows(stream_.get()), *pyramid_, device_cascade_.compiled());
    }
    return *windows_;
  }

  std::vector<Face> group() override {
    if (!unites() || found_->count() > max_united)
      return group_faces(windows(), options_.min_neighbors, should_stop_);
    return group_classes(classes_of(found_->classes(), device_cascade_.compiled()),
                         options_.min_neighbors, should_stop_);
  }

  StepTimes times() const override {
    StepTimes times;
    if (!settings_.measures_steps) return times;
    times[Step::upload] = input_->upload_ms();
    times[Step::gray] = input_->gray_ms();
    for (const GroupEvents& events : group_events_) {
      times[Step::resize] += elapsed_ms(events.begin, events.resized);
      times[Step::sat] += elapsed_ms(events.resized, events.summed);
      times[Step::evaluate] += elapsed_ms(events.summed, events.evaluated);
    }
    times[Step::download] = elapsed_ms(group_events_.back().evaluated, download_end_);
    return times;
  }

  void measure_kernels(bool wanted) override {
    if (wanted != std::exchange(measures_kernels_, wanted)) graph_ = {};
  }
  std::vector<KernelTime> kernels() const override { return graph_.times(); }
  void* stream() const override { return stream_.get(); }

  Image<std::uint32_t> snapshot(Snapshot picture, int index) override {
    use_device();
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    if (picture == Snapshot::gray) return downloaded<std::uint8_t>(input_->gray());
    if (atlas_plan_.groups.size() > 1) {  // the tables are those of the last group
      enqueue_tables(atlas_plan_.places[index].group);
      FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    }
    const Rect place = atlas_plan_.rectangle(*pyramid_, index);
    switch (picture) {
      case Snapshot::sum:
        return downloaded_part(sum_.view(), place);
      case Snapshot::squared_sum:
        return squares(atlas_plan_.places[index].group, place);
      case Snapshot::tilted_sum:
        return has_tilted() ? own_tilted_table(place) : Image<std::uint32_t>();
      case Snapshot::depth:
        return depths(index);
      default:
        return downloaded<std::uint8_t>(atlas_.view().sub(place));
    }
  }

 private:
  // A group is the levels that share an atlas. These events mark where its steps begin and end.
  struct GroupEvents {
    Event begin = make_event(), resized = make_event(), summed = make_event(),
          evaluated = make_event();
  };

  void use_device() const { FACESAT_CUDA(cudaSetDevice(device_)); }
  bool has_tilted() const { return cascade_->has_tilted(); }
  bool has_squares() const { return traits_of(cascade_->kind).squares; }

  // ---- memory

  // An eighth of the device's memory, because several backends share it.
  static std::size_t suitable_pixels() {
    std::size_t free = 0, total = 0;
    FACESAT_CUDA(cudaMemGetInfo(&free, &total));
    // Atlas, three tables of 4 bytes, workspace, and as much for lists of windows.
    constexpr std::size_t bytes_per_pixel = 32;
    return std::clamp<std::size_t>(total / 8 / bytes_per_pixel, 1 << 20, max_atlas_pixels);
  }

  void allocate() {
    const Size atlas = atlas_plan_.largest();
    const cudaStream_t stream = stream_.get();
    input_->prepare(pyramid_->image, options_.equalize);
    atlas_.resize(atlas, DeviceImage<std::uint8_t>::Border::none, stream);
    atlas_.clear(stream);
    sum_.resize(atlas, Border::zeros, stream);
    if (has_squares()) squared_sum_.resize(atlas, Border::zeros, stream);
    if (has_tilted()) tilted_sum_.resize(atlas, Border::zeros, stream);
    reserve(workspace_, workspace_bytes());
    clear_workspace();
    plan_ = plan_evaluate(*pyramid_, atlas_plan_, *cascade_);
    device_cascade_.load(cascade_, plan_, stream);
    reserve(rejected_, std::max<std::size_t>(plan_.words, 1));
    plans_.load(*pyramid_, atlas_plan_, plan_, stream);
    while (group_events_.size() < atlas_plan_.groups.size()) group_events_.emplace_back();
    group_events_.resize(atlas_plan_.groups.size());
    prepare_late_stages();  // last, because it does without memory if there is none left
  }

  std::size_t workspace_bytes() const {
    std::size_t most = 0;
    for (const LevelGroup& group : atlas_plan_.groups)
      most = std::max(most, sat_.workspace_bytes(SatType::u8_u32, group.atlas));
    return most;
  }

  void clear_workspace() const {
    if (workspace_.bytes() > 0)
      FACESAT_CUDA(cudaMemsetAsync(workspace_.data(), 0, workspace_.bytes(), stream_.get()));
  }

  void prepare_late_stages() {
    std::optional<LateDivision> division = LateDivision();
    if (!has_large_atlas()) division = settings_.late ? settings_.late : known_division();
    late_is_open_ = !division;
    divide(division.value_or(LateDivision()));
  }

  std::optional<LateDivision> known_division() const {
    return LateDivisions::of_process().find(device_, cascade_, late_amounts().windows);
  }
  void divide(const LateDivision& division) {
    if (!division.empty()) late_stages_.load(cascade_, shared_bytes(), stream_.get());
    late_stages_.divide(division, late_amounts(), plan_.layout, stream_.get());
  }

  // Takes the division that has been measured, perhaps by another backend, or measures it.
  void decide_late() {
    if (const std::optional<LateDivision> division = known_division()) {
      late_is_open_ = false;
      if (!division->empty()) graph_ = {};
      divide(*division);
      return;
    }
    // In pictures without structure there are no later stages to be measured. While other frames
    // are under way, a time says little; and where they always are, late stages would keep whole
    // multiprocessors from them.
    const DeviceLateStages::Amounts amounts = late_amounts();
    LateDivisions& all = LateDivisions::of_process();
    if (runs_alone_ <= frames_before_measuring || found_->count() == 0 ||
        !all.claim(device_, cascade_, amounts.windows))
      return;
    late_is_open_ = false;
    graph_ = {};
    late_stages_.load(cascade_, shared_bytes(), stream_.get());
    all.keep(device_, cascade_, amounts.windows,
             late_stages_.divide_fastest(amounts, plan_.layout, stream_.get(),
                                         [this] { return evaluation_ms(); }));
  }

  // Of the last frame.
  double evaluation_ms() const {
    const GroupEvents& events = group_events_.back();
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 4; ++run) {
      record(events.summed, cudaEventRecordDefault);
      enqueue_cascade(static_cast<int>(atlas_plan_.groups.size()) - 1);
      record(events.evaluated, cudaEventRecordDefault);
      found_->forget_candidates(stream_.get());
      FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
      // The first run may load code.
      if (run > 0) least = std::min(least, elapsed_ms(events.summed, events.evaluated));
    }
    return least;
  }

  // Whether offsets of pixels in the atlas do not fit into 32 bits.
  bool has_large_atlas() const {
    const auto pitch = static_cast<std::size_t>(atlas_.view().pitch);
    return pitch * atlas_plan_.largest().height > UINT32_MAX;
  }

  int shared_bytes() const {
    int most = 0;
    FACESAT_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_));
    return most;
  }

  DeviceLateStages::Amounts late_amounts() const {
    DeviceLateStages::Amounts most;
    for (const LevelGroup& group : atlas_plan_.groups) {
      std::size_t windows = 0;
      for (int i = group.first; i < group.first + group.count; ++i)
        windows += pyramid_->levels[i].grid.area();
      most.windows = std::max(most.windows, windows);
      most.tiles = std::max<std::size_t>(most.tiles, plan_.tile_count(group.first, group.count));
    }
    return most;
  }

  // ---- a frame

  template <class Frame>
  void load_any(const Frame& frame) {
    const NvtxRange range("facesat load");
    check_stop(should_stop_);
    use_device();
    is_idle_ = false;
    input_->load(frame);
  }

  void capture() {
    std::vector<StepBegin> steps;
    if (measures_kernels_ && settings_.measures_steps) {
      for (const GroupEvents& events : group_events_)
        steps.insert(steps.end(), {{&events.begin, Step::resize},
                                   {&events.resized, Step::sat},
                                   {&events.summed, Step::evaluate},
                                   {&events.evaluated, Step::download}});
    }
    graph_.capture(
        stream_.get(), [&] { enqueue_frame(cudaEventRecordExternal); }, steps);
  }

  void record(const Event& event, unsigned flags) const {
    FACESAT_CUDA(cudaEventRecordWithFlags(event.get(), stream_.get(), flags));
  }

  // Everything from the grey image to the classes of windows on the host.
  void enqueue_frame(unsigned event_flags) {
    const auto mark = [&](const Event& event) {
      if (settings_.measures_steps) record(event, event_flags);
    };
    for (int g = 0; g < static_cast<int>(atlas_plan_.groups.size()); ++g) {
      const GroupEvents& events = group_events_[g];
      mark(events.begin);
      enqueue_levels(g);
      mark(events.resized);
      enqueue_sums(g);
      mark(events.summed);
      enqueue_cascade(g);
      mark(events.evaluated);
    }
    GroupWindowsTask grouping{};
    grouping.evaluated_levels = plans_.levels();
    grouping.box_levels = plans_.boxes();
    grouping.level_count = static_cast<int>(pyramid_->levels.size());
    grouping.rejected = rejected_.data();
    grouping.skips = options_.scan == Scan::opencv;
    grouping.unites = unites();
    grouping.least = static_cast<std::uint32_t>(options_.min_neighbors) + 1;
    found_->enqueue(grouping, stream_.get());
    mark(download_end_);
  }

  void enqueue_tables(int g) const {
    enqueue_levels(g);
    enqueue_sums(g);
  }

  void enqueue_levels(int g) const {
    const Size size = atlas_plan_.groups[g].atlas;
    if (atlas_plan_.groups.size() > 1)  // levels of other groups lie where this one has gaps
      FACESAT_CUDA(cudaMemset2DAsync(atlas_.view().data, atlas_.view().pitch, 0,
                                     static_cast<std::size_t>(size.width), size.height,
                                     stream_.get()));
    enqueue_resize(input_->gray(), atlas_.view(size), plans_.resize(g), stream_.get());
  }

  void enqueue_sums(int g) const {
    const Size size = atlas_plan_.groups[g].atlas;
    if (atlas_plan_.groups.size() > 1) clear_workspace();  // last used for another size
    enqueue_sums(atlas_.view(size), sum_.view(size),
                 has_squares() ? squared_sum_.view(size) : View<std::uint32_t>());
    if (has_tilted()) enqueue_tilted(atlas_.view(size), tilted_sum_.view(size), stream_.get());
  }

  // Of empty tables there is none.
  void enqueue_sums(View<const std::uint8_t> picture, View<std::uint32_t> sum,
                    View<std::uint32_t> squared_sum) const {
    SatTask task = both_tables(picture, sum, squared_sum);
    task.parameter = sat_.value;
    sat_.enqueue(task, workspace_.data(), stream_.get());
  }

  // A task for group g; the caller adds where the results go and which tiles are evaluated.
  EvaluateTask task_of(int g) const {
    const Size size = atlas_plan_.groups[g].atlas;
    EvaluateTask task{};
    task.sum = sum_.view(size);
    if (has_squares()) task.squared_sum = squared_sum_.view(size);
    if (has_tilted()) task.tilted_sum = tilted_sum_.view(size);
    device_cascade_.set(task);
    task.levels = plans_.levels();
    return task;
  }

  void enqueue_cascade(int g) const {
    EvaluateTask task = task_of(g);
    task.skips = options_.scan == Scan::opencv;
    task.rejected = task.skips ? rejected_.data() : nullptr;
    task.candidates = found_->candidates();
    task.candidate_count = found_->candidate_count();
    task.capacity = found_->capacity();
    const LevelGroup& group = atlas_plan_.groups[g];
    const View<const std::uint8_t> atlas = atlas_.view(group.atlas);
    late_stages_.set(task, atlas);
    enqueue_tiles(task, group.first, group.count);
    late_stages_.enqueue(task, group, plan_.tile_count(group.first, group.count), atlas,
                         stream_.get());
  }

  void enqueue_tiles(EvaluateTask& task, int first_level, int level_count) const {
    task.tiles = plans_.tiles() + plan_.first_tile[first_level];
    device_cascade_.enqueue(task, plan_.tile_count(first_level, level_count), stream_.get());
  }

  // ---- results

  bool unites() const { return options_.min_neighbors > 0; }

  // Until the next frame is collected there are none.
  void forget_windows() {
    windows_.emplace();
    under_way_.reset();
  }

  // Of a level. Detection does without squares if the cascade does.
  Image<std::uint32_t> squares(int g, const Rect& place) const {
    if (has_squares()) return downloaded_part(squared_sum_.view(), place);
    const Size size = atlas_plan_.groups[g].atlas;
    DeviceImage<std::uint32_t> table;
    table.resize(size, Border::zeros, stream_.get());
    enqueue_sums(atlas_.view(size), {}, table.view());
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return downloaded_part(table.view(), place);
  }

  // In the atlas, the cones of a tilted integral image reach into neighbouring levels, so a level's
  // own table is computed anew.
  Image<std::uint32_t> own_tilted_table(const Rect& place) const {
    DeviceImage<std::uint32_t> table;
    table.resize({place.width, place.height}, Border::zeros, stream_.get());
    enqueue_tilted(atlas_.view().sub(place), table.view(), stream_.get());
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return downloaded<std::uint32_t>(table.view());
  }

  Image<std::uint32_t> depths(int index) const {
    const Level& level = pyramid_->levels[index];
    if (level.grid.area() == 0) return Image<std::uint32_t>(level.grid);
    const Buffer<std::uint32_t> cells(level.grid.area());
    EvaluateTask task = task_of(atlas_plan_.places[index].group);
    task.depths = cells.data();
    enqueue_tiles(task, index, 1);
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return downloaded<std::uint32_t>({cells.data(), level.grid, level.grid.width});
  }

  const int device_;
  const SatAlgorithm sat_;
  const CudaSettings settings_;
  std::size_t most_pixels_ = 0;  // of an atlas
  const Pyramid* pyramid_ = nullptr;
  std::shared_ptr<const Cascade> cascade_;
  DetectOptions options_;
  AtlasPlan atlas_plan_;
  ShouldStop should_stop_;

  Stream stream_;
  std::unique_ptr<StreamWait> wait_;
  std::unique_ptr<FrameInput> input_;
  Event download_end_;
  std::vector<GroupEvents> group_events_;
  CapturedGraph graph_;
  bool is_idle_ = true;  // all work that the stream was given here is done
  int runs_ = 0;         // since prepare()
  int runs_alone_ = 0;   // of those: the last ones that began when no other frame was under way
  bool measures_kernels_ = false;
  bool late_is_open_ = false;  // which stages are late

  DeviceImage<std::uint8_t> atlas_;
  DeviceImage<std::uint32_t> sum_, squared_sum_, tilted_sum_;
  Buffer<std::byte> workspace_;

  EvaluatePlan plan_;
  DevicePlans plans_;
  DeviceCascade device_cascade_;
  DeviceLateStages late_stages_;

  Buffer<std::uint32_t> rejected_;
  std::unique_ptr<WindowBuffers> found_;
  std::optional<std::vector<Window>> windows_;  // none: not downloaded yet
  std::optional<FrameCount> under_way_;         // a frame has run and is not collected yet
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int device, std::string_view sat,
                                           const CudaSettings& settings) {
  const SatChoice choice = choose_sat(sat.empty() ? sat_algorithms().front()->id : sat);
  if (!choice.algorithm) throw ArgumentError(fmt::format("sat {}: {}", sat, choice.why_not));
  return std::make_unique<CudaBackend>(device, *choice.algorithm, settings);
}

}  // namespace facesat::gpu

// The public train(), and what it shares with `facesat train`.
#include "library/training.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <type_traits>
#include <variant>

#include <tbb/parallel_for.h>

#include "core/cpu/gray.hpp"
#include "core/rules.hpp"
#include "kernels/boosting/cuda_screen.hpp"
#include "library/detect/host_image.hpp"
#include "training/cascade_prefix.hpp"
#include "training/object_samples.hpp"

namespace facesat {

// ---- options

const std::vector<Range<SampleOptions>>& sample_ranges() {
  using O = SampleOptions;
  static const std::vector<Range<O>> ranges{
      {"copies", &O::copies, 0, 10'000},
      {"shift", &O::shift, 0, 1},
      {"scale", &O::scale, 0, 1},
      {"turn", &O::turn, 0, 180},
      {"brightness", &O::brightness, 0, 255},
      {"contrast", &O::contrast, 0, 10},
      {"seed", &O::seed, 0, 2147483647},
  };
  return ranges;
}

const std::vector<Range<TrainOptions>>& training_ranges() {
  using O = TrainOptions;
  constexpr double many = 1'000'000'000;
  static const std::vector<Range<O>> ranges{
      {"stages", &O::stages, 1, 1000},
      {"hit_rate", &O::hit_rate, 0.5, 1},
      {"false_alarms", &O::false_alarms, 1e-6, 1},
      {"goal", &O::goal, 0, 1},
      {"trim", &O::trim, 0, 1},
      {"depth", &O::depth, 1, 12},
      {"trees", &O::trees, 1, 10'000},
      {"bins", &O::bins, 2, 256, true},
      {"positives_per_stage", &O::positives_per_stage, 0, many},
      {"negatives_per_stage", &O::negatives_per_stage, 10, many, true},
      {"held_out", &O::held_out, 0, 0.9},
      {"per_picture", &O::per_picture, 0, 1'000'000},
      {"scale_factor", &O::scale_factor, 1.01, 4},
      {"memory", &O::memory, 0, 1 << 24},
  };
  return ranges;
}

std::string why_no_window(Size window) {
  constexpr int least = 3, most = 1000;
  const auto [shorter, longer] = std::minmax({window.width, window.height});
  if (shorter >= least && longer <= most) return "";
  return fmt::format("expected sides from {} to {}, not {}x{}", least, most, window.width,
                     window.height);
}

namespace {

template <class Options>
void check(const Options& options, const std::vector<Range<Options>>& ranges) {
  for (const Range<Options>& range : ranges) {
    const double value =
        std::visit([&](auto member) { return static_cast<double>(options.*member); }, range.member);
    if (!range.has(value))
      throw ArgumentError(
          fmt::format("{}: expected {}, not {:g}", range.name, range.text(), value));
  }
}

}  // namespace

void check(const SampleOptions& options) {
  check(options, sample_ranges());
  const std::string reason = why_no_window(options.window);
  if (!reason.empty()) throw ArgumentError("window: " + reason);
}

void check(const TrainOptions& options) {
  check(options, training_ranges());
}

// ---- the parts of a training

training::TrainingOptions training_options(const TrainOptions& options, int seed,
                                           const Backends& backends) {
  training::TrainingOptions result{
      .features = options.features,
      .stage = {.boosting = options.boosting,
                .min_hit_rate = options.hit_rate,
                .max_false_alarm = options.false_alarms,
                .trim_rate = options.trim,
                .depth = options.depth,
                .max_trees = options.trees,
                .threshold_by_held_out = options.thresholds_by_held_out,
                .bins = options.bins,
                .memory = static_cast<std::size_t>(options.memory) << 20},
      .stages = options.stages,
      .positives = static_cast<std::size_t>(options.positives_per_stage),
      .negatives = static_cast<std::size_t>(options.negatives_per_stage),
      .held_out = options.held_out,
      .goal = options.goal,
      .seed = static_cast<std::uint64_t>(seed)};
  std::vector<int> devices;
  for (const Backends::Device& device : backends.devices()) devices.push_back(device.id);
  if (!devices.empty()) result.stage.make_screen = gpu::make_cuda_screens(devices);
  return result;
}

training::MakeBackend make_backend_of(const Backends& backends) {
  if (!backends.on_gpu()) return make_cpu_backend;
  return [turn = std::make_shared<std::atomic<std::size_t>>(0), devices = backends.devices()] {
    return devices[(*turn)++ % devices.size()].make();
  };
}

std::unique_ptr<training::Mine> open_mine(std::shared_ptr<training::NegativePictures> negatives,
                                          const TrainOptions& options, int seed,
                                          const Backends& backends) {
  return training::open_mine(std::move(negatives),
                             {.mirrored = options.mirrored_negatives,
                              .scale_factor = options.scale_factor,
                              .per_picture = options.per_picture,
                              .seed = static_cast<std::uint64_t>(seed)},
                             make_backend_of(backends));
}

void require_enough(const training::Samples& learnt, const training::Samples& held_out) {
  constexpr std::size_t least = 10;
  if (learnt.count() >= least) return;
  const std::string aside =
      held_out.count() > 0 ? fmt::format(" ({} held out)", held_out.count()) : "";
  throw ArgumentError(
      fmt::format("{} positive{} to learn from{}: too few; at least {}, better a thousand",
                  learnt.count(), learnt.count() == 1 ? "" : "s", aside, least));
}

Cascade begun_with(const Cascade* from, const TrainOptions& options, Size window) {
  Cascade none;
  none.kind = training::kind_of(options.features);
  none.window = window;
  if (!from) return none;
  if (from->kind != none.kind || from->window != none.window)
    throw ArgumentError(
        fmt::format("a cascade of {} features in windows of {}x{}; features and window must agree",
                    name_of(from->kind), from->window.width, from->window.height));
  if (std::ssize(from->stages) > options.stages)
    throw ArgumentError(fmt::format("it has {} stages already, more than the {} that are wanted",
                                    from->stages.size(), options.stages));
  return training::without_unused(*from);
}

// ---- images in memory

namespace {

using GrayImage = Image<std::uint8_t>;

std::shared_ptr<const GrayImage> gray_of(const ImageView& image) {
  check(image);
  const HostImage host(image);
  const auto gray = std::make_shared<GrayImage>(image.size);
  std::visit(
      [&]<class Pixel>(View<const Pixel> pixels) {
        if constexpr (std::is_same_v<Pixel, std::uint8_t>)
          copy(pixels, gray->view());
        else
          cpu::to_gray(pixels, gray->view());
      },
      host.pixels());
  return gray;
}

std::string name_of_image(std::size_t number) {
  return fmt::format("image {}", number);
}

class ImagesInMemory final : public training::NegativePictures {
 public:
  explicit ImagesInMemory(std::span<const TrainingImage> images) {
    for (const TrainingImage& image : images) {
      pictures_.push_back({gray_of(image.image), {}});
      for (const Rect& box : image.objects)
        pictures_.back().objects.push_back({static_cast<double>(box.x), static_cast<double>(box.y),
                                            static_cast<double>(box.width),
                                            static_cast<double>(box.height)});
    }
    if (pictures_.empty()) throw ArgumentError("there are no images to look for negatives in");
  }

  std::size_t count() const override { return pictures_.size(); }
  std::string name(std::size_t picture) const override { return name_of_image(picture); }
  std::vector<training::Box> objects(std::size_t picture) const override {
    return pictures_[picture].objects;
  }
  std::uint64_t checksum() const override { return pictures_.size(); }
  std::optional<Gray> read(std::size_t picture, const ShouldStop&) override {
    return Gray{pictures_[picture].gray};
  }

 private:
  struct Picture {
    std::shared_ptr<const GrayImage> gray;
    std::vector<training::Box> objects;
  };
  std::vector<Picture> pictures_;
};

// The boxes of the objects, in the image.
std::vector<Rect> boxes_of(const TrainingImage& image, std::size_t number) {
  const Size size = image.image.size;
  if (size.area() == 0) throw ArgumentError(name_of_image(number) + " is empty");
  if (image.objects.empty()) return {{0, 0, size.width, size.height}};
  std::vector<Rect> boxes;
  for (const Rect& box : image.objects) {
    boxes.push_back(rules::clipped(box, size));
    if (boxes.back().width <= 0 || boxes.back().height <= 0)
      throw ArgumentError(fmt::format("{}: the box {} {} {} {} lies outside its {}x{} pixels",
                                      name_of_image(number), box.x, box.y, box.width, box.height,
                                      size.width, size.height));
  }
  return boxes;
}

// ---- stages

// Tells OnStage of each stage, and ends the training if it says so.
class StageCaller final : public training::TrainingObserver {
 public:
  explicit StageCaller(OnStage on_stage) : on_stage_(std::move(on_stage)) {}

  void begins(const training::StageStart& start) override {
    start_ = start;
    begun_ = std::chrono::steady_clock::now();
  }
  void ends(int stage, const training::StageTrainer& trainer) override;
  bool goes_on(const Cascade& cascade) override {
    stages_.back().cascade = std::make_shared<const Cascade>(cascade);
    return !on_stage_ || on_stage_(stages_.back());
  }

  const std::vector<TrainedStage>& stages() const { return stages_; }

 private:
  OnStage on_stage_;
  std::vector<TrainedStage> stages_;
  training::StageStart start_;
  std::chrono::steady_clock::time_point begun_;
};

void StageCaller::ends(int stage, const training::StageTrainer& trainer) {
  const training::Rates rates = trainer.rates(), held_out = trainer.held_out_rates();
  stages_.push_back(
      {.number = stage,
       .trees = static_cast<int>(trainer.trees().size()),
       .positives = start_.positives,
       .negatives = start_.negatives,
       .hit_rate = rates.hit_rate,
       .false_alarms = rates.false_alarm,
       .held_out_hit_rate = held_out.hit_rate,
       .held_out_false_alarms = held_out.false_alarm,
       .acceptance = start_.acceptance,
       .seconds =
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count()});
}

}  // namespace

training::ObjectSamples samples_of(std::span<const TrainingImage> images,
                                   const SampleOptions& options) {
  std::vector<std::vector<std::vector<GrayImage>>> samples(
      images.size());  // of each object of each
  tbb::parallel_for(std::size_t{0}, images.size(), [&](std::size_t i) {
    const std::vector<Rect> boxes = boxes_of(images[i], i);
    const std::shared_ptr<const GrayImage> gray = gray_of(images[i].image);
    for (std::size_t object = 0; object < boxes.size(); ++object)
      samples[i].push_back(training::samples_of(gray->view(), boxes[object], options, i, object));
  });
  training::ObjectSamples all{.samples = {options.window, {}}};
  std::size_t object = 0;
  for (const auto& image : samples)
    for (const auto& of_object : image) all.add(object++, of_object);
  return all;
}

std::shared_ptr<training::NegativePictures> negatives_of(std::span<const TrainingImage> images) {
  return std::make_shared<ImagesInMemory>(images);
}

// ---- training

Training train(const training::ObjectSamples& objects,
               std::shared_ptr<training::NegativePictures> negatives, const SampleOptions& samples,
               const TrainOptions& options, const BackendOptions& backend, const OnStage& on_stage,
               const ShouldStop& should_stop, const std::shared_ptr<const Cascade>& from) {
  check(options);
  Cascade cascade = begun_with(from.get(), options, samples.window);
  const Backends backends(backend, {});
  const training::FeaturePool pool = training::make_pool(options.features, samples.window);
  auto [learnt, held_out] =
      training::held_out(objects, options.held_out, static_cast<std::uint64_t>(samples.seed));
  require_enough(learnt, held_out);
  training::TrainingSets sets{
      .positives = std::move(learnt),
      .held_out_positives = std::move(held_out),
      .negatives = open_mine(std::move(negatives), options, samples.seed, backends)};
  training::TrainingStore nothing_kept;
  StageCaller caller(on_stage);
  const training::TrainingResult result = training::train(
      pool, std::move(cascade), sets, training_options(options, samples.seed, backends),
      nothing_kept, caller, should_stop);
  if (result.cascade.stages.empty()) throw ArgumentError(result.sentence);
  return {.cascade = std::make_shared<const Cascade>(result.cascade),
          .stages = caller.stages(),
          .ending = result.sentence,
          .warnings = sets.negatives->warnings()};
}

Training train(std::span<const TrainingImage> positives, std::span<const TrainingImage> negatives,
               const SampleOptions& samples, const TrainOptions& options,
               const BackendOptions& backend, const OnStage& on_stage,
               const ShouldStop& should_stop, const std::shared_ptr<const Cascade>& from) {
  check(samples);
  return train(samples_of(positives, samples), negatives_of(negatives), samples, options, backend,
               on_stage, should_stop, from);
}

std::string cascade_to_xml(const Cascade& cascade, std::string_view comment) {
  return to_xml(cascade, comment);
}

}  // namespace facesat

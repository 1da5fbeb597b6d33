#include "training/object_samples.hpp"

#include <algorithm>
#include <cmath>

#include "core/crop.hpp"
#include "core/resample.hpp"
#include "training/distortion.hpp"
#include "training/shuffle.hpp"

namespace facesat::training {

Rect region_of(const Rect& box, const SampleOptions& options) {
  return options.aspect == Aspect::keep ? crop_region(box, {.margin = 0, .size = options.window})
                                        : box;
}

std::vector<Image<std::uint8_t>> samples_of(View<const std::uint8_t> picture, const Rect& box,
                                            const SampleOptions& options,
                                            std::size_t picture_number, std::size_t object_number) {
  std::vector<Image<std::uint8_t>> samples;
  const auto add = [&](Image<std::uint8_t> sample) {
    samples.push_back(std::move(sample));
    if (options.mirror) samples.push_back(mirrored(samples.back().view()));
  };
  const Rect region = region_of(box, options);
  add(resampled(picture, region, options.window));
  for (int copy = 0; copy < options.copies; ++copy) {
    Random random({static_cast<std::uint64_t>(options.seed), picture_number, object_number,
                   static_cast<std::uint64_t>(copy)});
    add(random_copy(picture, region, options, random));
  }
  return samples;
}

void ObjectSamples::add(std::size_t object, const std::vector<Image<std::uint8_t>>& of_it) {
  for (const Image<std::uint8_t>& sample : of_it) samples.add(sample.view());
  objects.insert(objects.end(), of_it.size(), object);
}

std::pair<Samples, Samples> divided(const ObjectSamples& all, const std::vector<bool>& apart) {
  const Size window = all.samples.window;
  std::pair<Samples, Samples> parts{{window, {}}, {window, {}}};
  for (std::size_t i = 0; i < all.objects.size(); ++i)
    (apart[all.objects[i]] ? parts.second : parts.first).add(all.samples[i]);
  return parts;
}

std::pair<Samples, Samples> held_out(const ObjectSamples& all, double fraction,
                                     std::uint64_t seed) {
  const std::size_t objects = all.object_count();
  const auto held = static_cast<std::size_t>(
      std::floor(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(objects) + 0.5));
  std::vector<bool> is_held(objects);
  if (objects > 0) {
    const Shuffle order(objects, seed);
    for (std::size_t i = 0; i < held; ++i) is_held[order.at(i)] = true;
  }
  return divided(all, is_held);
}

}  // namespace facesat::training

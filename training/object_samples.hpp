// Samples of objects that are marked in pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "boosting/samples.hpp"
#include "core/image.hpp"

namespace facesat::training {

// What is cut out for an object that is marked by this box.
Rect region_of(const Rect& box, const SampleOptions& options);

// The samples of the object in this box, which may reach beyond the picture: edges are repeated.
// `picture_number` and `object_number` begin the random numbers of its copies.
std::vector<Image<std::uint8_t>> samples_of(View<const std::uint8_t> picture, const Rect& box,
                                            const SampleOptions& options,
                                            std::size_t picture_number, std::size_t object_number);

struct ObjectSamples {
  Samples samples;
  std::vector<std::size_t> objects{};  // of each sample, the number of its object, ascending

  void add(std::size_t object, const std::vector<Image<std::uint8_t>>& of_it);
  std::size_t object_count() const { return objects.empty() ? 0 : objects.back() + 1; }
};

// The samples of the other objects, and those of the objects that are `apart`, in their order.
std::pair<Samples, Samples> divided(const ObjectSamples& all, const std::vector<bool>& apart);

// Divides samples by chance: `fraction` of the objects (rounded, halves up) are held out, each with
// all of its samples. Returns the others and those held out, both in their order.
std::pair<Samples, Samples> held_out(const ObjectSamples& all, double fraction, std::uint64_t seed);

}  // namespace facesat::training

// Parts of pictures without objects, for samples to be drawn over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "datasets/sentences.hpp"

namespace facesat::training {

// `count` parts in the size of the window, of random pictures; sources: see
// NegativeSources::inputs. Pictures that cannot be read or are too small are reported in
// `sentences`, and others take their place. The same seed gives the same parts for any number of
// threads. Throws UsageError if no picture can be used.
std::vector<Image<std::uint8_t>> random_backgrounds(std::size_t count, Size window,
                                                    const std::vector<std::string>& sources,
                                                    std::uint64_t seed, Sentences& sentences);

}  // namespace facesat::training

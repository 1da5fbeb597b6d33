// What detectors are made from, as Python passes it.
#pragma once

#include <memory>
#include <string>
#include <tuple>

#include "facesat.hpp"

namespace facesat::python {

struct PythonCascade {
  std::shared_ptr<const Cascade> cascade;
  CascadeInfo info;
};

using SidesOfSize = std::tuple<int, int>;  // width, height

inline DetectOptions detect_options(double scale_factor, int min_neighbors,
                                    const SidesOfSize& min_size, const SidesOfSize& max_size,
                                    bool dense, bool equalize) {
  const auto size = [](const SidesOfSize& s) { return Size{std::get<0>(s), std::get<1>(s)}; };
  return {.scale_factor = scale_factor,
          .min_neighbors = min_neighbors,
          .min_size = size(min_size),
          .max_size = size(max_size),
          .scan = dense ? Scan::dense : Scan::opencv,
          .equalize = equalize};
}

// Throws ArgumentError for the name of a backend that there is not.
inline BackendOptions backend_options(const std::string& backend, const std::string& device,
                                      const std::string& sat) {
  const BackendChoice choice = backend == "cpu"    ? BackendChoice::cpu
                               : backend == "cuda" ? BackendChoice::cuda
                                                   : BackendChoice::automatic;
  if (choice == BackendChoice::automatic && backend != "auto")
    throw ArgumentError("backend must be \"auto\", \"cpu\" or \"cuda\"");
  return {.choice = choice, .device = device, .sat = sat};
}

}  // namespace facesat::python

// What the collections of algorithms have in common: kernels/sat, kernels/scan and kernels/filter,
// and the schedules of kernels/tasks. Includes no CUDA headers.
//
// The contract of a collection is a struct whose objects are its algorithms, with an id, a title
// and a source: the paper or library that it is from. Where each algorithm has a file, it is a
// constant whose name is the id, and a line FACESAT_ALGORITHM(id) of the folder's registry.def puts
// it into the list. A line without a constant does not link; a constant without a line is not
// declared, and so an unused variable, which does not compile.
#pragma once

#include <span>
#include <string_view>
#include <type_traits>

namespace facesat::gpu {

// In the order of the folder's registry.def. Empty in builds without CUDA.
template <class Algorithm>
using Algorithms = std::span<const Algorithm* const>;

// An algorithm of a list, whose elements are algorithms or point to them; null if there is none of
// that id.
template <class Element>
const auto* find_by_id(std::span<const Element> list, std::string_view id) {
  const auto address = [](const Element& element) {
    if constexpr (std::is_pointer_v<Element>)
      return element;
    else
      return &element;
  };
  for (const Element& element : list)
    if (address(element)->id == id) return address(element);
  return decltype(address(list.front())){};
}

}  // namespace facesat::gpu

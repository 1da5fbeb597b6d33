// Memory for decoded frames. It is kept for later frames, because new pages cost about as much time
// as a decoder needs to fill them. Where a GPU is in use, it is page-locked, so that the GPU reads
// frames where they are.
#pragma once

#include <cstddef>
#include <memory>

#include "core/image.hpp"

namespace facesat {

// Two functions like malloc() and free(), which is told the size again.
struct Allocator {
  void* (*allocate)(std::size_t bytes);  // null: there is no memory
  void (*free)(void* memory, std::size_t bytes);
};

// Memory that begins on a 64-byte boundary, with undefined contents. It is free for others once the
// last owner is gone. Throws MemoryError. May be called by any number of threads at the same time,
// as all functions here.
std::shared_ptr<void> frame_memory(std::size_t bytes);

// From now on, memory that is not yet there comes from `allocator`, and from the usual one where
// that has none left. It must be valid as long as the process lives.
void allocate_frames_with(const Allocator& allocator);

template <class Pixel>
struct NewFrame {
  View<Pixel> pixels;           // undefined; rows start on 64-byte boundaries
  std::shared_ptr<void> owner;  // keeps the pixels alive
};

template <class Pixel>
NewFrame<Pixel> new_frame(Size size) {
  const std::ptrdiff_t pitch = Image<Pixel>::rounded_pitch(size.width);
  std::shared_ptr<void> owner =
      frame_memory(static_cast<std::size_t>(pitch) * size.height * sizeof(Pixel));
  return {{static_cast<Pixel*>(owner.get()), size, pitch}, std::move(owner)};
}

}  // namespace facesat

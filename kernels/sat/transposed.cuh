// For algorithms that scan rows, transpose, and scan rows again: the intermediate table, which lies
// transposed in the workspace.
#pragma once

#include "kernels/sat/pass.cuh"

namespace facesat::gpu {

// The pitch of the transposed table: the picture's height, rounded up to whole warps.
constexpr std::ptrdiff_t transposed_pitch(Size size) {
  return static_cast<std::ptrdiff_t>(divide_up(size.height, 32)) * 32;
}
constexpr std::size_t transposed_bytes(SatType type, Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(transposed_pitch(size)) *
         info_of(type).table_bytes;
}

// From the picture to the transposed table: pixel (x, y) belongs to row(x)[y].
template <class In, class Out, bool of_squares>
Pass<In, Out, of_squares> to_transposed(Pass<In, Out, of_squares> pass, void* workspace) {
  pass.table = static_cast<Out*>(workspace);
  pass.pitch = transposed_pitch(pass.size);
  return pass;
}

// From one table of sums to another, or to itself.
template <class Out>
Pass<Out, Out, false> between_tables(Size size, const Out* from, std::ptrdiff_t from_pitch, Out* to,
                                     std::ptrdiff_t to_pitch) {
  return {size, from, from_pitch, to, to_pitch};
}

// From the transposed table to the pass's table, transposed back.
template <class In, class Out, bool of_squares>
Pass<Out, Out, false> from_transposed(const Pass<In, Out, of_squares>& pass,
                                      const void* workspace) {
  return between_tables({pass.size.height, pass.size.width}, static_cast<const Out*>(workspace),
                        transposed_pitch(pass.size), pass.table, pass.pitch);
}

}  // namespace facesat::gpu

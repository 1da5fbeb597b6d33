// From the bits of a JPEG's scan to the coefficients of its blocks.
//
// Idea: once it is known where pieces begin (piece_begins.cu), prefix sums over their whole blocks
//   and DC differences say which block a piece begins in, and with which DC coefficients. With
//   these, pieces are decoded once more, and coefficients are written.
// Source: as piece_begins.cu's. Different from Weißenborn and Schmidt: sums of DC differences are
//   those of pieces, so that no pass over blocks is needed for them.
#include "kernels/device/warp.cuh"
#include "kernels/jpeg/piece_decoder.cuh"

namespace facesat::gpu {
namespace {

constexpr int piece_threads = pieces_of_group;  // of a block; each decodes a piece

// ---- what is before each piece

__device__ __forceinline__ JpegSums operator+(JpegSums sums, const JpegSums& more) {
  sums.blocks += more.blocks;
  FACESAT_UNROLL
  for (int c = 0; c < 3; ++c) sums.dc[c] += more.dc[c];
  return sums;
}
__device__ __forceinline__ JpegSums operator-(JpegSums sums, const JpegSums& less) {
  sums.blocks -= less.blocks;
  FACESAT_UNROLL
  for (int c = 0; c < 3; ++c) sums.dc[c] -= less.dc[c];
  return sums;
}

// Prefix sums over the threads of a block.
class SumsOfThreads {
 public:
  // Returns the sums of all threads before this one, and those of all.
  __device__ JpegSums before(const JpegSums& own, JpegSums& all) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const JpegSums up_to{warp_inclusive_scan(own.blocks),
                         {warp_inclusive_scan(own.dc[0]), warp_inclusive_scan(own.dc[1]),
                          warp_inclusive_scan(own.dc[2])}};
    if (threadIdx.x % 32 == 31) warps_[warp] = up_to;
    __syncthreads();
    JpegSums before{};
    all = {};
    for (int w = 0; w < piece_threads / 32; ++w) {
      if (w == warp) before = all;
      all = all + warps_[w];
    }
    return before + up_to - own;
  }

 private:
  SharedArray<JpegSums, piece_threads / 32> warps_;
};

// Sums in groups of pieces. Those of groups are added where they are needed.
__global__ void sum_pieces_kernel(JpegTask task, int piece_count) {
  __shared__ SumsOfThreads threads;
  const int number = static_cast<int>(blockIdx.x * piece_threads + threadIdx.x);
  const JpegSums own = number < piece_count ? task.sums[number] : JpegSums{};
  JpegSums all;
  const JpegSums before = threads.before(own, all);
  if (number < piece_count) task.sums[number] = before;
  if (threadIdx.x == 0) task.groups[blockIdx.x] = all;
}

// ---- coefficients

// Where the coefficients of an MCU's blocks lie: the number of a block in the first MCU, and how
// much that grows from one MCU to the next, and from one row of them to the next.
struct BlockPlaces {
  SharedArray<int, most_blocks_of_mcu> first, by_column, by_row;

  // To be called by all threads, which must meet before reading.
  __device__ void set(const JpegHeader& header) {
    const int block = static_cast<int>(threadIdx.x);
    if (block >= header.blocks_of_mcu) return;
    const auto number = static_cast<int>(header.component_of_blocks >> 2 * block & 3);
    const JpegComponent& component = header.components[number];
    // Luma comes first, and components of chroma have a single block each.
    const int in_component = number == 0 ? block : 0;
    const int x = in_component % component.h, y = in_component / component.h;
    first[block] = component.first_block + y * component.blocks.width + x;
    by_column[block] = component.h;
    by_row[block] = component.v * component.blocks.width;
  }
};

// Writes what a piece has.
class Writer {
 public:
  // The piece begins in block number `block` of the scan; its segment ends before `end`.
  __device__ Writer(const JpegTask& task, const Layout& layout, BlockPlaces& places,
                    const JpegSums& before, int block, int end)
      : layout_(layout),
        places_(places),
        coefficients_(task.coefficients),
        columns_(task.header->mcus.width),
        dc_(before),
        left_(end - block) {
    const int of_mcu = task.header->blocks_of_mcu, mcu = block / of_mcu;
    column_ = mcu % columns_;
    row_ = mcu / columns_;
    find_block(block % of_mcu);
  }

  __device__ void error() { has_error_ |= left_ > 0; }
  __device__ void dc(BlockOfMcu block, unsigned bits, JpegCode code) {
    const int component = block.component(layout_);
    const auto difference = static_cast<unsigned>(value_of(bits, code));
    unsigned value = 0;
    FACESAT_UNROLL
    for (int c = 0; c < 3; ++c) {
      dc_.dc[c] += component == c ? difference : 0;
      value = component == c ? dc_.dc[c] : value;
    }
    put(0, static_cast<int>(value));
  }
  __device__ void coefficient(int k, unsigned bits, JpegCode code) {
    if (all_bits_of(code) == own_bits_of(code)) return;
    if (k < pixels_of_block)
      put(k, value_of(bits, code));
    else
      error();
  }
  __device__ void end_block(BlockOfMcu next, std::uint32_t bits_left) {
    if (--left_ == 0) has_error_ |= bits_left >= 8;
    if (next.number() == 0 && ++column_ == columns_) {
      column_ = 0;
      ++row_;
    }
    find_block(next.number());
  }

  __device__ bool has_error() const { return has_error_; }
  __device__ bool is_complete() const { return left_ <= 0; }

 private:
  __device__ void find_block(int block) {
    const int number =
        places_.first[block] + column_ * places_.by_column[block] + row_ * places_.by_row[block];
    to_ = coefficients_ + static_cast<std::ptrdiff_t>(number) * pixels_of_block;
  }
  __device__ void put(int k, int value) {
    if (left_ > 0) to_[k] = static_cast<std::int16_t>(value);
  }

  const Layout& layout_;
  BlockPlaces& places_;
  std::int16_t* const coefficients_;
  const int columns_;  // of MCUs
  JpegSums dc_;
  int left_, column_, row_;  // blocks left of the segment; the MCU's place
  bool has_error_ = false;
  std::int16_t* to_;
};

__global__ void write_pieces_kernel(JpegTask task, int piece_count) {
  __shared__ Codes codes;
  __shared__ BlockPlaces places;
  __shared__ Words words;
  __shared__ SumsOfThreads threads;
  const JpegHeader& header = *task.header;
  const int thread = static_cast<int>(threadIdx.x), group = static_cast<int>(blockIdx.x);
  places.set(header);
  codes.load<piece_threads>(header);
  Decoder decoder(task, codes, words, group * piece_threads);
  const int number = group * piece_threads + thread;
  const auto first_piece_of = [&](int segment) {
    return static_cast<int>(task.segments[segment].first_piece);
  };
  // Of the groups before this one, from the beginning of a segment on that continues here.
  JpegSums sums{}, of_groups;
  const int continued = first_piece_of(piece_of(task, group * piece_threads).segment);
  for (int i = continued / piece_threads + thread; i < group; i += piece_threads)
    sums = sums + task.groups[i];
  static_cast<void>(threads.before(sums, of_groups));
  if (number >= piece_count) return;
  const Piece piece = piece_of(task, number);
  const int first_piece = first_piece_of(piece.segment);
  JpegSums before = task.sums[number] - task.sums[first_piece];
  if (first_piece / piece_threads < group) before = before + of_groups;
  const int first_mcu = piece.segment * header.segment_mcus;
  const int last_mcu = min(first_mcu + header.segment_mcus, header.mcus.width * header.mcus.height);
  const int blocks = (last_mcu - first_mcu) * header.blocks_of_mcu;
  // Damaged bits may have any number of blocks.
  const int in_segment = static_cast<int>(min(before.blocks, static_cast<unsigned>(blocks)));
  const int first_block = first_mcu * header.blocks_of_mcu;
  Writer writer(task, decoder.layout, places, before, first_block + in_segment,
                first_block + blocks);
  const JpegPlace begin = task.begins[number];
  const bool is_apart =
      begin == unknown_place || (!piece.is_first && begin != task.ends[number - 1]);
  if (!is_apart) decoder.decode(piece, begin, writer);
  if (is_apart || writer.has_error() || (piece.is_last && !writer.is_complete()))
    store_relaxed(task.has_failed, 1u);
}

}  // namespace

void enqueue_coefficients(const JpegTask& task, const JpegHeader& header, StreamHandle stream) {
  const int pieces = header.piece_count, groups = divide_up(pieces, piece_threads);
  enqueue_piece_begins(task, header, stream);
  FACESAT_LAUNCH(sum_pieces_kernel, dim3(groups), dim3(piece_threads), stream, task, pieces);
  FACESAT_LAUNCH(write_pieces_kernel, dim3(groups), dim3(piece_threads), stream, task, pieces);
}

}  // namespace facesat::gpu

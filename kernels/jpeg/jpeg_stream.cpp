#include "kernels/jpeg/jpeg_stream.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/frame_memory.hpp"

namespace facesat::gpu {
namespace {

using Bytes = std::span<const unsigned char>;

// Ends the reading of a file.
struct Refusal {
  const char* why;
};

void require(bool is_met, const char* why) {
  if (!is_met) throw Refusal{why};
}

enum Marker : int {
  sof0 = 0xC0,  // baseline
  sof1 = 0xC1,  // extended sequential
  dht = 0xC4,
  rst0 = 0xD0,
  rst7 = 0xD7,
  soi = 0xD8,
  eoi = 0xD9,
  sos = 0xDA,
  dqt = 0xDB,
  dri = 0xDD,
  app0 = 0xE0,
  app1 = 0xE1,
  app14 = 0xEE,
  app15 = 0xEF,
  com = 0xFE,
};

// The bytes of a marker segment, from the first to the last.
class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  Bytes rest() const { return rest_; }
  Bytes take(std::size_t count) {
    require(count <= rest_.size(), "a header is too short");
    const Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  int byte() { return take(1)[0]; }
  int word() {
    const int high = byte();
    return high << 8 | byte();
  }

 private:
  Bytes rest_;
};

// A symbol's lower half says how many bits of a value follow.
JpegCode code_of(int bits, int symbol, bool is_dc) {
  const int value_bits = symbol & 15, zeros = symbol >> 4;
  if (is_dc) return jpeg_code(bits, value_bits, 1);
  if (value_bits > 0) return jpeg_code(bits, value_bits, zeros + 1);
  return jpeg_code(bits, 0, zeros == 15 ? 16 : pixels_of_block);
}

HuffmanTable make_table(Bytes counts, Bytes symbols, bool is_dc) {
  HuffmanTable table{};
  int code = 0, place = 0;
  for (int length = 1; length <= HuffmanTable::most_bits; ++length) {
    code <<= 1;
    table.to_place[length] = place - code;
    for (int i = 0; i < counts[length - 1]; ++i, ++code, ++place) {
      // A code of ones alone is not permitted.
      require(code < (1 << length) - 1, "a Huffman table has too many codes");
      require(!is_dc || symbols[place] <= 15, "a Huffman table has a symbol that is not permitted");
      table.codes[place] = code_of(length, symbols[place], is_dc);
      const int more_bits = HuffmanTable::lookup_bits - length;
      if (more_bits >= 0)
        std::fill_n(table.lookup + (code << more_bits), 1 << more_bits, table.codes[place]);
    }
    table.limit[length] = code << (HuffmanTable::most_bits - length);
  }
  return table;
}

// Tables that files need not have, as frames of cameras often do not: those of T.81, annex K.3. The
// more frequent symbols are listed; of the others of AC tables, all that may occur follow in order.
struct UsualTable {
  std::array<unsigned char, HuffmanTable::most_bits> counts;
  std::string_view first_symbols;
};
using namespace std::string_view_literals;
constexpr std::array<UsualTable, 4> usual_tables{{
    {{0, 1, 5, 1, 1, 1, 1, 1, 1}, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B"sv},
    {{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B"sv},
    {{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
     "\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xA1"
     "\x08"
     "\x23\x42\xB1\xC1\x15\x52\xD1\xF0\x24\x33\x62\x72\x82"sv},
    {{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
     "\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42"
     "\x91"
     "\xA1\xB1\xC1\x09\x23\x33\x52\xF0\x15\x62\x72\xD1\x0A\x16\x24\x34\xE1\x25\xF1"sv},
}};

HuffmanTable usual_table(int index) {
  const UsualTable& usual = usual_tables[static_cast<std::size_t>(index)];
  const bool is_dc = index < 2;
  std::vector<unsigned char> symbols(usual.first_symbols.begin(), usual.first_symbols.end());
  const auto first_count = static_cast<std::ptrdiff_t>(symbols.size());
  for (int zeros = 0; !is_dc && zeros < 16; ++zeros)
    for (int value_bits = 1; value_bits <= 10; ++value_bits) {
      const auto symbol = static_cast<unsigned char>(zeros << 4 | value_bits);
      if (std::find(symbols.begin(), symbols.begin() + first_count, symbol) ==
          symbols.begin() + first_count)
        symbols.push_back(symbol);
    }
  return make_table(usual.counts, symbols, is_dc);
}

class JpegFile {
 public:
  JpegFile(Bytes file, std::size_t max_pixels) : file_(file), max_pixels_(max_pixels) {}

  JpegStream read() {
    require(file_.size() > 2 && file_[0] == 0xFF && file_[1] == soi, "it is not a JPEG");
    at_ = 2;
    for (;;) {
      const int marker = next_marker();
      Reader segment(segment_bytes());
      if (marker == sos) {
        read_scan(segment);
        return std::move(stream_);
      }
      read_header(marker, segment);
    }
  }

 private:
  struct Frame {
    int ids[3];
    int tables[3];
  };

  int next_marker() {
    require(at_ + 2 <= file_.size() && file_[at_] == 0xFF, "a marker is missing");
    while (at_ + 1 < file_.size() && file_[at_ + 1] == 0xFF) ++at_;
    require(at_ + 2 <= file_.size(), "the file ends early");
    at_ += 2;
    return file_[at_ - 1];
  }

  Bytes segment_bytes() {
    Reader length(file_.subspan(std::min(at_, file_.size())));
    const int bytes = length.word();
    require(bytes >= 2, "a header is too short");
    const Bytes segment = length.take(static_cast<std::size_t>(bytes) - 2);
    at_ += static_cast<std::size_t>(bytes);
    return segment;
  }

  void read_header(int marker, Reader& segment) {
    switch (marker) {
      case sof0:
      case sof1:
        return read_frame(segment);
      case dht:
        return read_huffman_tables(segment);
      case dqt:
        return read_quantisers(segment);
      case dri:
        restart_interval_ = segment.word();
        return require(segment.empty(), "a header is too long");
      case app0:
      case app14:
        return read_colours(marker, segment);
      case app1:
        if (!stream_.metadata.data()) stream_.metadata = segment.rest();
        return;
      default:
        require((marker > app0 && marker <= app15) || marker == com,
                "it is of a kind other than baseline and extended sequential");
    }
  }

  void read_colours(int marker, Reader& segment) {
    const auto begins = [&](Bytes bytes, std::string_view name) {
      return bytes.size() >= name.size() &&
             std::memcmp(bytes.data(), name.data(), name.size()) == 0;
    };
    const Bytes bytes = segment.rest();
    if (marker == app0 && bytes.size() >= 14 && begins(bytes, "JFIF\0"sv)) {
      require(bytes[5] == 1, "its version of JFIF is unknown");
      has_jfif_ = true;
    }
    if (marker == app14 && bytes.size() >= 12 && begins(bytes, "Adobe"sv)) adobe_ = bytes[11];
  }

  void read_quantisers(Reader& segment) {
    while (!segment.empty()) {
      const int kind = segment.byte();
      require(kind >> 4 <= 1 && (kind & 15) < 4, "a quantisation table has no valid number");
      auto& table = quantisers_[static_cast<std::size_t>(kind & 15)].emplace();
      for (std::uint16_t& quantiser : table)
        quantiser = static_cast<std::uint16_t>(kind >> 4 ? segment.word() : segment.byte());
    }
  }

  void read_huffman_tables(Reader& segment) {
    while (!segment.empty()) {
      const int kind = segment.byte();
      require(kind >> 4 <= 1 && (kind & 15) < 2, "it has more than two Huffman tables of a kind");
      const Bytes counts = segment.take(HuffmanTable::most_bits);
      std::size_t count = 0;
      for (const unsigned char of_length : counts) count += of_length;
      require(count <= 256, "a Huffman table has too many codes");
      const bool is_dc = kind >> 4 == 0;
      const int index = (is_dc ? 0 : 2) + (kind & 15);
      stream_.header.tables[index] = make_table(counts, segment.take(count), is_dc);
      has_table_[static_cast<std::size_t>(index)] = true;
    }
  }

  void read_frame(Reader& segment) {
    JpegHeader& header = stream_.header;
    require(header.component_count == 0, "it has two frames");
    require(segment.byte() == 8, "its samples do not have 8 bits");
    header.size.height = segment.word();
    header.size.width = segment.word();
    constexpr int most = 65500;  // that libjpeg-turbo reads
    require(header.size.width > 0 && header.size.height > 0, "it has no size");
    require(header.size.width <= most && header.size.height <= most, "it is too large");
    require(header.size.area() <= max_pixels_, "it is too large");
    header.component_count = segment.byte();
    require(header.component_count == 1 || header.component_count == 3,
            "it is neither grey nor YCbCr");
    for (int i = 0; i < header.component_count; ++i) {
      frame_.ids[i] = segment.byte();
      const int factors = segment.byte();
      header.components[i].h = factors >> 4;
      header.components[i].v = factors & 15;
      require(factors >> 4 >= 1 && factors >> 4 <= 4 && (factors & 15) >= 1 && (factors & 15) <= 4,
              "its sampling factors are not permitted");
      frame_.tables[i] = segment.byte();
      require(frame_.tables[i] < 4, "a quantisation table is missing");
    }
    require(segment.empty(), "a header is too long");
  }

  // As libjpeg-turbo decides it.
  bool is_ycbcr() const {
    if (has_jfif_) return true;
    if (adobe_) return *adobe_ == 1;
    const auto& id = frame_.ids;
    return !(id[0] == 'R' && id[1] == 'G' && id[2] == 'B');
  }

  void require_table(int index) {
    if (!std::exchange(has_table_[static_cast<std::size_t>(index)], true))
      stream_.header.tables[index] = usual_table(index);
  }

  void read_scan(Reader& segment) {
    JpegHeader& header = stream_.header;
    require(header.component_count > 0, "it has no frame");
    require(segment.byte() == header.component_count, "it has several scans");
    for (int i = 0; i < header.component_count; ++i) {
      require(segment.byte() == frame_.ids[i], "its scan has other components than its frame");
      const int tables = segment.byte();
      require(tables >> 4 < 2 && (tables & 15) < 2,
              "it has more than two Huffman tables of a kind");
      header.components[i].dc_table = tables >> 4;
      header.components[i].ac_table = 2 + (tables & 15);
      require_table(header.components[i].dc_table);
      require_table(header.components[i].ac_table);
    }
    require(segment.word() == 63 && segment.byte() == 0 && segment.empty(),
            "its scan is not sequential");
    require(header.component_count == 1 || is_ycbcr(), "it is neither grey nor YCbCr");
    plan_blocks();
    read_bits();
  }

  void plan_blocks() {
    JpegHeader& header = stream_.header;
    JpegComponent& luma = header.components[0];
    if (header.component_count == 1) luma.h = luma.v = 1;  // a scan of one has blocks, not MCUs
    const Size factors{luma.h, luma.v};
    header.mcus = {divide_up(header.size.width, 8 * factors.width),
                   divide_up(header.size.height, 8 * factors.height)};
    int first_block = 0;
    for (int i = 0; i < header.component_count; ++i) {
      JpegComponent& component = header.components[i];
      require(i == 0 || is_usual(component, factors), "its subsampling is rare");
      const auto& quantisers = quantisers_[static_cast<std::size_t>(frame_.tables[i])];
      require(quantisers.has_value(), "a quantisation table is missing");
      std::ranges::copy(*quantisers, component.quantisers);
      component.size = {divide_up(header.size.width * component.h, factors.width),
                        divide_up(header.size.height * component.v, factors.height)};
      component.blocks = {header.mcus.width * component.h, header.mcus.height * component.v};
      component.first_block = first_block;
      first_block += component.blocks.width * component.blocks.height;
      for (int k = 0; k < component.h * component.v; ++k) {
        require(header.blocks_of_mcu < most_blocks_of_mcu, "its subsampling is rare");
        header.component_of_blocks |= static_cast<std::uint32_t>(i) << 2 * header.blocks_of_mcu++;
      }
    }
  }

  // Chroma with one block per MCU, for one, two or four of luma across and one or two down.
  static bool is_usual(const JpegComponent& chroma, const Size& luma) {
    const bool is_whole = chroma.h == 1 && chroma.v == 1;
    return is_whole && luma.width != 3 && luma.height <= 2 && (luma.width < 4 || luma.height == 1);
  }

  static std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

  // The bits of the scan.
  void read_bits() {
    JpegHeader& header = stream_.header;
    const std::size_t mcus = header.mcus.area();
    header.segment_mcus = static_cast<int>(
        restart_interval_ == 0 ? mcus : std::min<std::size_t>(mcus, restart_interval_));
    const std::size_t segments = (mcus + header.segment_mcus - 1) / header.segment_mcus;
    // Up to three bytes fill up the last word of a segment, after which the file has a marker of
    // two. With that, a segment has three bytes or more there.
    const std::size_t rest = file_.size() - at_, most_segments = std::min(segments, rest / 3 + 1);
    stream_.bits_at = aligned(sizeof(JpegHeader));
    const std::shared_ptr<void> memory =
        frame_memory(aligned(stream_.bits_at + rest + most_segments + bytes_to_read_ahead) +
                     most_segments * sizeof(JpegSegment));
    auto* const block = static_cast<unsigned char*>(memory.get());
    bits_ = block + stream_.bits_at;
    for (std::size_t i = 0; i < segments; ++i) {
      read_segment();
      const int expected = i + 1 == segments ? eoi : rst0 + static_cast<int>(i % 8);
      require(next_marker() == expected, "it is damaged, or has several scans");
    }
    // So that numbers of bits and blocks fit into 31 bits.
    require(bytes_ < std::size_t{1} << 28, "it is too large");
    append_zeros(bytes_to_read_ahead);
    header.word_count = static_cast<int>(bytes_ / 4);
    header.segment_count = static_cast<int>(segments);
    header.guesses = header.blocks_of_mcu * first_bits();
    stream_.end = at_;

    stream_.segments_at = aligned(stream_.bits_at + bytes_);
    const std::size_t segment_bytes = segments * sizeof(JpegSegment);
    std::memset(block + sizeof(JpegHeader), 0, stream_.bits_at - sizeof(JpegHeader));
    std::memcpy(block, &header, sizeof(JpegHeader));
    std::memset(bits_ + bytes_, 0, stream_.segments_at - stream_.bits_at - bytes_);
    std::memcpy(block + stream_.segments_at, stream_.segments.data(), segment_bytes);
    stream_.block = {block, stream_.segments_at + segment_bytes};
    stream_.owner = memory;
  }

  // From how many bits on decoders are to begin. Where blocks have few bits, there may be cycles of
  // wrong codes, which some decoders never leave.
  int first_bits() const {
    constexpr std::size_t few_bits = 40;
    const auto blocks = static_cast<std::size_t>(stream_.header.block_count());
    if (8 * bytes_ > few_bits * blocks) return 1;
    return stream_.header.component_count == 1 ? 4 : 2;
  }

  // Up to the next marker.
  void read_segment() {
    const std::size_t begin = bytes_;
    for (;;) {
      const auto* const from = file_.data() + std::min(at_, file_.size());
      const auto* const found = static_cast<const unsigned char*>(
          std::memchr(from, 0xFF, static_cast<std::size_t>(file_.data() + file_.size() - from)));
      require(found && found + 1 < file_.data() + file_.size(), "the file ends early");
      const bool is_stuffed = found[1] == 0;
      const auto count = static_cast<std::size_t>(found - from) + (is_stuffed ? 1 : 0);
      std::memcpy(bits_ + bytes_, from, count);
      bytes_ += count;
      at_ = static_cast<std::size_t>(found - file_.data());
      if (!is_stuffed) break;
      at_ += 2;
    }
    const std::size_t bits = 8 * (bytes_ - begin);
    require(bits > 0 && bits < UINT32_MAX / 2, "it is damaged");
    int& pieces = stream_.header.piece_count;
    stream_.segments.push_back({.first_word = static_cast<std::uint32_t>(begin / 4),
                                .bits = static_cast<std::uint32_t>(bits),
                                .first_piece = static_cast<std::uint32_t>(pieces)});
    pieces += static_cast<int>((bits + piece_bits - 1) / piece_bits);
    append_zeros((4 - bytes_ % 4) % 4);
  }

  void append_zeros(std::size_t count) {
    std::memset(bits_ + bytes_, 0, count);
    bytes_ += count;
  }

  static constexpr std::size_t bytes_to_read_ahead = 16;
  const Bytes file_;
  const std::size_t max_pixels_;
  std::size_t at_ = 0;
  JpegStream stream_;
  Frame frame_{};
  std::optional<std::array<std::uint16_t, pixels_of_block>> quantisers_[4];
  std::array<bool, 4> has_table_{};
  bool has_jfif_ = false;
  std::optional<int> adobe_;  // what Adobe's programs say of the colours
  int restart_interval_ = 0;
  unsigned char* bits_ = nullptr;  // of segments
  std::size_t bytes_ = 0;
};

}  // namespace

std::variant<JpegStream, std::string> read_jpeg_stream(Bytes file, std::size_t max_pixels) {
  try {
    return JpegFile(file, max_pixels).read();
  } catch (const Refusal& refusal) {
    return std::string(refusal.why);
  }
}

}  // namespace facesat::gpu

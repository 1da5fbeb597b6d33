// Compressed files for tests.
#pragma once

#include <stdexcept>
#include <string>

#include <zlib.h>

namespace facesat::test {

inline std::string gzip(const std::string& text) {
  z_stream z{};
  if (deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string bytes(deflateBound(&z, text.size()), '\0'), input = text;
  z.next_in = reinterpret_cast<Bytef*>(input.data());
  z.avail_in = static_cast<uInt>(input.size());
  z.next_out = reinterpret_cast<Bytef*>(bytes.data());
  z.avail_out = static_cast<uInt>(bytes.size());
  deflate(&z, Z_FINISH);
  bytes.resize(z.total_out);
  deflateEnd(&z);
  return bytes;
}

}  // namespace facesat::test

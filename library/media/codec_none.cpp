// For builds without OpenCV: reads no formats but those that have readers of their own.
#include "library/media/codec.hpp"
#include "library/support/errors.hpp"

namespace facesat {

void prepare_codecs(const DecodeLimits&) {}  // each reader gets its limits

Picture read_other_picture(const InputFile&, const DecodeLimits&) {
  throw InputError("decode", "this is not a picture that can be decoded");
}

std::string other_codec_name() {
  return "";
}

std::vector<std::string_view> other_picture_extensions() {
  return {};
}

}  // namespace facesat

#include "support/parse_size.hpp"

#include <charconv>

#include <fmt/format.h>

#include "support/errors.hpp"

namespace facesat {

Size parse_size(const std::string& text) {
  const char *at = text.data(), *end = at + text.size();
  const auto number = [&](int& value) {
    const auto [rest, error] = std::from_chars(at, end, value);
    at = rest;
    return error == std::errc() && value >= 0;
  };
  Size size;
  bool valid = number(size.width);
  size.height = size.width;
  if (valid && at != end)
    valid = (*at == 'x' || *at == 'X') && (++at, number(size.height)) && at == end;
  if (!valid) throw UsageError(fmt::format("expected N or WxH in pixels, not \"{}\"", text));
  return size;
}

}  // namespace facesat

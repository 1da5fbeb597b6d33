#include "media/source_name.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

namespace facesat {
namespace {

namespace fs = std::filesystem;

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Is this a URL, which begins with "rtsp://", "https://" and the like?
bool begins_with_scheme(const std::string& name) {
  const std::size_t end = name.find("://");
  return end != std::string::npos && end > 0 &&
         std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(end),
                     [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '+' || c == '.' || c == '-';
                     });
}

// Where the host begins in what follows the "://" of a URL. A password that contains an unescaped
// '/', '?' or '#' ends the host too early, and is then what stands in the place of the port.
std::size_t begin_of_host(std::string_view rest) {
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  std::size_t at = host.rfind('@');
  const std::size_t colon = host.rfind(':');
  const bool is_port = colon == host.npos || colon + 1 == host.size() || host.ends_with(']') ||
                       is_number(host.substr(colon + 1));
  if (at == host.npos && !is_port) at = rest.rfind('@');
  return at == rest.npos ? 0 : at + 1;
}

bool suggests_credentials(std::string_view parameter) {
  constexpr std::string_view words[] = {"user",   "usr", "login",     "pass",
                                        "pwd",    "pw",  "auth",      "token",
                                        "secret", "key", "signature", "credential"};
  std::string name(parameter);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return name.find(word) != name.npos; });
}

}  // namespace

std::optional<std::string> camera_name(const std::string& name) {
  constexpr std::string_view prefix = "camera:";
  if (name.starts_with("/dev/video")) return name;
  const std::string number = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  const bool is_camera = number.empty() || (is_number(number) && number.size() < 5);
  return is_camera ? std::optional(number) : std::nullopt;
}

std::optional<fs::path> source_path(const std::string& name) {
  constexpr std::string_view file_scheme = "file://";
  std::error_code ignored;
  if (camera_name(name)) return std::nullopt;
  if (fs::exists(name, ignored)) return name;
  if (name.starts_with(file_scheme)) return name.substr(file_scheme.size());
  return begins_with_scheme(name) ? std::nullopt : std::optional<fs::path>(name);
}

bool is_live_name(const std::string& name) {
  return !name.empty() && !is_number(name) && !source_path(name);
}

// Some cameras have parameters in the path, too: "rtsp://host/user=admin&password=123&channel=1".
std::string without_credentials(const std::string& name) {
  if (!begins_with_scheme(name)) return name;
  const std::size_t scheme = name.find("://") + 3;
  std::string_view rest = std::string_view(name).substr(scheme);
  rest.remove_prefix(begin_of_host(rest));
  std::string result = name.substr(0, scheme);
  bool is_query = false;
  while (!rest.empty()) {
    const std::string_view separators = is_query ? "&;#" : "/&;?#";
    const std::size_t end = std::min(rest.find_first_of(separators), rest.size()),
                      equals = rest.substr(0, end).find('=');
    const bool is_secret = equals != rest.npos && suggests_credentials(rest.substr(0, equals));
    result += rest.substr(0, is_secret ? equals + 1 : end);
    if (end < rest.size()) result += rest[end];
    is_query |= end < rest.size() && rest[end] == '?';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

}  // namespace facesat

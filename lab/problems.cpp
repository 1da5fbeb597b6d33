// All problems, and what their choices have in common.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/device/gpu_info.hpp"
#include "lab/problem.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace facesat::lab {

// Each is defined in the file of its name in lab/problems.
std::unique_ptr<Problem> sat_problem();
std::unique_ptr<Problem> scan_problem();
std::unique_ptr<Problem> tasks_problem();
std::unique_ptr<Problem> filter_problem();

std::vector<std::unique_ptr<Problem>> all_problems() {
  std::vector<std::unique_ptr<Problem>> all;
  for (const auto make : {sat_problem, scan_problem, tasks_problem, filter_problem})
    all.push_back(make());
  return all;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::string base_of(const std::string& text) {
  return text.substr(0, text.find(':'));
}

bool wants_all(const std::vector<std::string>& asked) {
  return asked.empty() || contains(asked, "all");
}

Size picture_size(const std::string& text) {
  constexpr int largest_side = 32768;
  const Size size = parse_size(text);
  if (size.width < 1 || size.height < 1 || size.width > largest_side || size.height > largest_side)
    throw UsageError(fmt::format("--size {}: sides are from 1 to {}", text, largest_side));
  return size;
}

std::size_t known_word(const std::string& option, const std::string& what, const std::string& word,
                       const std::vector<std::string_view>& known) {
  const auto found = std::ranges::find(known, word);
  if (found == known.end())
    throw UsageError(fmt::format("{} {}: there is no such {}; known are {}", option, word, what,
                                 fmt::join(known, ", ")));
  return static_cast<std::size_t>(found - known.begin());
}

std::string why_no_gpu(int device) {
  std::string why_none;
  const auto devices = gpu::devices(&why_none);
  if (devices.empty()) return why_none;
  if (device >= static_cast<int>(devices.size()))
    throw UsageError(
        fmt::format("--device {}: there is no such device; 'facesat info' lists them", device));
  return "";
}

}  // namespace facesat::lab

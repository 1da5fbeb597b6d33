// All problems, and what their choices have in common.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/parse_number.hpp"
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
std::unique_ptr<Problem> histogram_problem();
std::unique_ptr<Problem> jpeg_problem();

std::vector<std::unique_ptr<Problem>> all_problems() {
  std::vector<std::unique_ptr<Problem>> all;
  for (const auto make :
       {sat_problem, scan_problem, tasks_problem, filter_problem, histogram_problem, jpeg_problem})
    all.push_back(make());
  return all;
}

Column text_column(std::string title, int width, std::string key) {
  return {std::move(title), width,
          [key = std::move(key)](const Json& row) { return row[key].get<std::string>(); }};
}

Column size_column() {
  return {"size", 11, [](const Json& row) {
            return fmt::format("{}x{}", row["width"].get<int>(), row["height"].get<int>());
          }};
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

void add_new(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& word : more)
    if (!contains(list, word)) list.push_back(word);
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

int array_length(const std::string& text, int most_bits) {
  const bool is_power = text.starts_with("2^");
  std::int64_t value =
      parse_number<std::int64_t>(std::string_view(text).substr(is_power ? 2 : 0)).value_or(-1);
  if (is_power) value = value >= 0 && value < 62 ? std::int64_t{1} << value : -1;
  if (value < 1 || value > std::int64_t{1} << most_bits)
    throw UsageError(
        fmt::format("--size {}: expected a number of elements from 1 to 2^{}, like 1000 or 2^20",
                    text, most_bits));
  return static_cast<int>(value);
}

void refuse_unknown(const std::string& option, const std::string& word, const std::string& what,
                    const std::vector<std::string_view>& known) {
  throw UsageError(fmt::format("{} {}: there is no such {}; known are {}", option, word, what,
                               fmt::join(known, ", ")));
}

std::size_t known_word(const std::string& option, const std::string& what, const std::string& word,
                       const std::vector<std::string_view>& known) {
  const auto found = std::ranges::find(known, word);
  if (found == known.end()) refuse_unknown(option, word, what, known);
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

void require_gpu(const std::string& option, const std::string& why_none) {
  if (!why_none.empty()) throw UsageError(fmt::format("{} needs a GPU: {}", option, why_none));
}

}  // namespace facesat::lab

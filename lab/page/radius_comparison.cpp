#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"

namespace facesat::lab {
namespace {

// Algorithms that compute a filter in the same way.
struct FilterMethod {
  std::string_view name;
  std::array<std::string_view, 2> prefixes;  // of their ids; "": none

  bool has(const std::string& id) const {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
      return !prefix.empty() && id.starts_with(prefix);
    });
  }
};

namespace methods {

constexpr FilterMethod integral_box{"the box from an integral image",
                                    {"integral_box", "facesat_box"}};
constexpr FilterMethod direct{"the fastest direct convolution", {"lecture_2d_", "lecture_1d_"}};
constexpr FilterMethod separable{"the fastest separable convolution",
                                 {"lecture_separable", "facesat_separable"}};
constexpr FilterMethod three_boxes{"the approximation by three boxes", {"three_boxes"}};
constexpr FilterMethod npp{"NPP", {"peer_npp"}};
constexpr FilterMethod integral_sums{"the computation from integral images",
                                     {"integral_statistics"}};
constexpr FilterMethod direct_sums{"the computation from every pixel of the window",
                                   {"direct_statistics"}};
constexpr FilterMethod cpu_integral{"on the CPU, the integral image", {"cpu_integral"}};
constexpr FilterMethod cpu_separable{"the separable convolution", {"cpu_separable"}};
constexpr FilterMethod cpu_direct{"the direct computation", {"cpu_direct"}};

}  // namespace methods

constexpr std::pair<const FilterMethod&, const FilterMethod&> compared_methods[]{
    {methods::integral_box, methods::direct},    {methods::integral_box, methods::separable},
    {methods::integral_box, methods::npp},       {methods::separable, methods::direct},
    {methods::three_boxes, methods::separable},  {methods::integral_sums, methods::direct_sums},
    {methods::integral_sums, methods::npp},      {methods::cpu_integral, methods::cpu_separable},
    {methods::cpu_integral, methods::cpu_direct}};

// A method's fastest row at each radius.
using FastestRows = std::map<double, const Row*>;
FastestRows fastest_rows(const Rows& rows, const FilterMethod& method) {
  FastestRows fastest;
  for (const Row& row : rows) {
    if (!row.value || row.median_us == 0 || row.checked == false || !method.has(row.id)) continue;
    const Row*& best = fastest[*row.value];
    if (!best || row.median_us < best->median_us) best = &row;
  }
  return fastest;
}

// A radius at which both methods were measured.
struct RadiusPair {
  double radius;
  const Row *own, *other;
  bool is_faster() const { return own->median_us < other->median_us; }
};

// "is faster than ... from radius 3 on", without the beginning.
std::string verdict_on(const std::vector<RadiusPair>& pairs, std::string_view other) {
  std::vector<double> faster;
  for (const RadiusPair& pair : pairs)
    if (pair.is_faster()) faster.push_back(pair.radius);
  if (pairs.size() == 1)
    return fmt::format("{} faster than {} at radius {}", faster.empty() ? "is not" : "is", other,
                       pairs.front().radius);
  if (faster.empty())
    return fmt::format("is not faster than {} at any radius from {} to {}", other,
                       pairs.front().radius, pairs.back().radius);
  if (faster.size() == pairs.size())
    return fmt::format("is faster than {} at every radius from {} to {}", other,
                       pairs.front().radius, pairs.back().radius);
  if (!pairs.back().is_faster())
    return fmt::format("is faster than {} only at radi{} {}", other,
                       faster.size() == 1 ? "us" : "i", fmt::join(faster, ", "));
  std::size_t first = pairs.size() - 1;
  while (pairs[first - 1].is_faster()) --first;
  return fmt::format("is faster than {} from radius {} on", other, pairs[first].radius);
}

}  // namespace

std::string radius_comparisons(const Rows& rows) {
  std::string sentences;
  for (const auto& [method, other] : compared_methods) {
    const FastestRows own = fastest_rows(rows, method), others = fastest_rows(rows, other);
    std::vector<RadiusPair> pairs;
    for (const auto& [radius, row] : own)
      if (const auto found = others.find(radius); found != others.end())
        pairs.push_back({radius, row, found->second});
    if (pairs.empty()) continue;
    const RadiusPair& last = pairs.back();
    std::string sentence = fmt::format("{} {}", method.name, verdict_on(pairs, other.name));
    sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
    sentences += fmt::format("<li>{}. At radius {}, {} takes {}, and {} {}.</li>\n", sentence,
                             last.radius, escaped(last.own->id), microseconds(last.own->median_us),
                             escaped(last.other->id), microseconds(last.other->median_us));
  }
  return sentences.empty() ? "" : "<ul class=\"comparisons\">\n" + sentences + "</ul>\n";
}

}  // namespace facesat::lab

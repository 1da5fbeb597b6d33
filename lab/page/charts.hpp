// The charts of the HTML pages of benchmarks. Each takes the rows of one section, and is empty if
// there is nothing to show.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "lab/page/chart.hpp"
#include "lab/page/rows.hpp"

namespace facesat::lab {

// Ratios to the floor (a kernel that only reads the input and writes the output) against the size.
std::string ratio_chart(const Rows& rows, const Looks& looks);

// Speed-ups over the algorithm `over` against the size, with a heading.
std::string speedup_chart(const Rows& rows, const Looks& looks, const std::string& over,
                          const std::string& heading);

// For each size, the times in order, the fastest first.
std::string order_charts(const Rows& rows);

// For each algorithm that was measured with several values of its parameter, the times against the
// value, with a line for each size. The words are the parameter's name and meaning, by algorithm.
using ParameterWords = std::map<std::string, std::pair<std::string, std::string>>;
std::string parameter_charts(const Rows& rows, const ParameterWords& words);

// Times against the value of a parameter that all algorithms have, such as the radius of a filter,
// with a line for each algorithm and for the floor, and a legend. Empty if fewer than two values
// were measured.
std::string radius_chart(const Rows& rows, const Looks& looks);

// From which radius on one method of filtering is faster than another, in HTML: a box from an
// integral image compared with direct and with separable convolutions and with NPP, and so on for
// the other methods. Each method is represented by its fastest algorithm at each radius. `rows` are
// those of one filter and size, without algorithms that are not to be compared. Wrong rows do not
// count; comparisons that lack rows are left out.
std::string radius_comparisons(const Rows& rows);

// Tables with a line for each algorithm and a column for each radius, with headings: the medians,
// and the reads per element of the result. `comparable`: the rows of which one can be the fastest.
std::string medians_over_radii(const Rows& rows, const Rows& comparable);
std::string reads_over_radii(const Rows& rows);

// Measured times against those that the models predict.
std::string model_chart(const Rows& rows, const Looks& looks);

}  // namespace facesat::lab

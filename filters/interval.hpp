// Sums over intervals that reach beyond the edges of a row, in constant time, from the row's prefix
// sums alone.
//
// Let P(k) be the sum of a row's first k elements, for k from 0 to n. What stands at places outside
// is defined by a Border, so the sum of the places from 0 to a is defined for every a, and is a
// combination of few prefix sums. For example, with Border::wrap and a = q n + r, it is
// q P(n) + P(r). In two dimensions, with the integral image (summed area table) for P, the sum of a
// box is the combination of both directions' combinations: no picture has to be padded, and boxes
// may be larger than the picture.
#pragma once

#include "filters/border.hpp"

namespace facesat {

// factors[i] * P(places[i]), added. Terms whose factor is 0 do not count.
struct PrefixCombination {
  static constexpr int terms = 5;
  int places[terms]{}, factors[terms]{};
};

// The sum of the elements at places begin to end - 1, for begin <= end, of a row of n elements.
constexpr PrefixCombination interval_sum(int begin, int end, int n, Border border) {
  // Terms 0 and 1 belong to the interval's two ends; the others are P(n), P(n - 1) and P(1).
  enum { all = 2, all_but_last = 3, first = 4 };
  PrefixCombination sum{{0, 0, n, n - 1, 1}, {}};
  // Adds sign times the sum of the places from 0 to a; for a < 0, subtracts those from a to 0.
  const auto add_up_to = [&](int a, int sign, int own) {
    const auto add = [&](int place, int factor) {
      sum.places[own] = place;
      sum.factors[own] = sign * factor;
    };
    if (a >= 0 && a <= n) return add(a, 1);
    switch (border) {
      case Border::zero:
        return add(a < 0 ? 0 : n, 1);
      case Border::clamp:
        if (a < 0) {
          sum.factors[first] += sign * a;
        } else {
          sum.factors[all] += sign * (1 + a - n);
          sum.factors[all_but_last] -= sign * (a - n);
        }
        return;
      case Border::mirror: {
        const int rows = floor_divide(a, n), rest = a - rows * n;
        if (rows % 2 == 0) {
          sum.factors[all] += sign * rows;
          return add(rest, 1);
        }
        sum.factors[all] += sign * (rows + 1);
        return add(n - rest, -1);
      }
      case Border::reflect101: {
        if (n == 1) {
          sum.factors[first] += sign * a;
          return;
        }
        // A period is the row, and the row backwards without its ends.
        const int period = 2 * n - 2, periods = floor_divide(a, period);
        const int rest = a - periods * period;
        const int backwards = rest > n ? 1 : 0;
        sum.factors[all] += sign * (periods + backwards);
        sum.factors[all_but_last] += sign * (periods + backwards);
        sum.factors[first] -= sign * periods;
        return backwards ? add(2 * n - 1 - rest, -1) : add(rest, 1);
      }
      case Border::wrap: {
        const int rows = floor_divide(a, n);
        sum.factors[all] += sign * rows;
        return add(a - rows * n, 1);
      }
    }
  };
  add_up_to(end, 1, 0);
  add_up_to(begin, -1, 1);
  return sum;
}

}  // namespace facesat

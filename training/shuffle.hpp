// A pseudo-random order of the numbers below a limit that is computed one number at a time, in both
// directions, so that the first few of billions cost nothing.
//
// A Feistel network permutes the numbers of 2h bits; numbers beyond the limit are permuted again
// until they fall below it (J. Black and P. Rogaway, Ciphers with arbitrary finite domains, CT-RSA
// 2002). That takes less than four rounds on average.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace facesat::training {

// A hash of 64 bits (the finaliser of the generator splitmix64).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

class Shuffle {
 public:
  // An order of the numbers 0 .. count - 1, count > 0, that is chosen by `key`.
  constexpr Shuffle(std::uint64_t count, std::uint64_t key)
      : count_(count), half_((std::bit_width(count - 1) + 1) / 2) {
    for (std::uint64_t& one : keys_) one = key = mixed(key);
  }

  // The number that has this rank in the order.
  constexpr std::uint64_t at(std::uint64_t rank) const {
    do {
      rank = forwards(rank);
    } while (rank >= count_);
    return rank;
  }

  // The inverse: at(rank_of(number)) == number.
  constexpr std::uint64_t rank_of(std::uint64_t number) const {
    do {
      number = backwards(number);
    } while (number >= count_);
    return number;
  }

 private:
  constexpr std::uint64_t round(std::uint64_t half, std::uint64_t key) const {
    return mixed(half ^ key) & ((std::uint64_t{1} << half_) - 1);
  }
  constexpr std::uint64_t forwards(std::uint64_t value) const {
    std::uint64_t left = value >> half_, right = value ^ left << half_;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t next = left ^ round(right, key);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }
  constexpr std::uint64_t backwards(std::uint64_t value) const {
    std::uint64_t left = value >> half_, right = value ^ left << half_;
    for (auto key = keys_.rbegin(); key != keys_.rend(); ++key) {
      const std::uint64_t before = right ^ round(left, *key);
      right = left;
      left = before;
    }
    return left << half_ | right;
  }

  std::uint64_t count_;
  int half_;  // bits
  std::array<std::uint64_t, 4> keys_{};
};

}  // namespace facesat::training

// Sentences for the user about what was left out: the first few, because a mistake in annotations
// is often made in all of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace facesat::training {

class Sentences {
 public:
  void add(std::string sentence) {
    if (first_.size() < most)
      first_.push_back(std::move(sentence));
    else
      ++more_;
  }
  void add(std::vector<std::string> sentences) {
    for (std::string& sentence : sentences) add(std::move(sentence));
  }

  bool empty() const { return first_.empty(); }
  // With a last one on how many more there are.
  std::vector<std::string> all() const {
    std::vector<std::string> sentences = first_;
    if (more_ > 0) sentences.push_back(fmt::format("and {} more of these", more_));
    return sentences;
  }

 private:
  static constexpr std::size_t most = 10;
  std::vector<std::string> first_;
  std::size_t more_ = 0;
};

}  // namespace facesat::training

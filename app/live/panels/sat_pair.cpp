#include "app/live/panels/sat_pair.hpp"

#include <algorithm>
#include <utility>

namespace facesat::app {

void SatPair::pin(Side side, std::string id) {
  const bool was_pinned = ids_[side] == id;
  std::replace(ids_.begin(), ids_.end(), id, std::string());
  if (!was_pinned) ids_[side] = std::move(id);
}

std::string SatPair::next(const std::string& in_use) const {
  if (!is_complete()) return {};
  return in_use == ids_[a] ? ids_[b] : ids_[a];
}

std::string SatPair::due(const std::string& in_use, Clock::time_point now) {
  if (in_use != running_ || !alternates || !is_complete()) {
    running_ = in_use;
    since_ = now;
    return {};
  }
  return now - since_ < turn ? std::string() : next(in_use);
}

void SatPair::keep(const std::string& in_use, const Times& times, const Subject& any_sat) {
  constexpr std::size_t enough = 10;
  if (any_sat != subject_) times_.clear();
  subject_ = any_sat;
  if (times.frames == 0) return;
  Times& kept = times_[in_use];
  if (times.frames >= std::min(kept.frames, enough)) kept = times;
}

const SatPair::Times* SatPair::times(Side side) const {
  const auto found = times_.find(ids_[side]);
  return found == times_.end() ? nullptr : &found->second;
}

}  // namespace facesat::app

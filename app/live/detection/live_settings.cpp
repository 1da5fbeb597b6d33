#include "app/live/detection/live_settings.hpp"

#include <algorithm>

namespace facesat::app {

bool LiveSettings::has(const std::string& cascade) const {
  return std::find(cascades.begin(), cascades.end(), cascade) != cascades.end();
}

void LiveSettings::choose(const std::string& cascade) {
  if (has(cascade)) return;
  for (const std::string& chosen : cascades) give_colour(chosen);  // as settings may come without
  cascades.push_back(cascade);
  give_colour(cascade);
}

void LiveSettings::give_colour(const std::string& cascade) {
  if (std::find(colours.begin(), colours.end(), cascade) != colours.end()) return;
  const auto free = std::find_if(colours.begin(), colours.end(),
                                 [this](const std::string& other) { return !has(other); });
  if (free != colours.end())
    *free = cascade;
  else
    colours.push_back(cascade);
}

void LiveSettings::unchoose(const std::string& cascade) {
  std::erase(cascades, cascade);
  if (detect.inside_of == cascade) detect.inside_of.clear();
}

std::size_t LiveSettings::colour_of(const std::string& cascade) const {
  const auto found = std::find(colours.begin(), colours.end(), cascade);
  if (found != colours.end()) return static_cast<std::size_t>(found - colours.begin());
  return static_cast<std::size_t>(std::find(cascades.begin(), cascades.end(), cascade) -
                                  cascades.begin());
}

std::size_t LiveSettings::cascade_of_colour(std::size_t colour) const {
  const auto found =
      std::find_if(cascades.begin(), cascades.end(),
                   [&](const std::string& cascade) { return colour_of(cascade) == colour; });
  return static_cast<std::size_t>(found - cascades.begin());
}

}  // namespace facesat::app

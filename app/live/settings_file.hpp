// The choices that the window saves from one run to the next.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/live/detection/live_settings.hpp"

namespace facesat::app {

class Panel;  // see panels/panel.hpp
using Panels = std::vector<std::unique_ptr<Panel>>;

struct Remembered {
  LiveSettings settings;
  Opacities opacities;  // not saved
  bool dark = true, labels = true;
  int font_size = 16;               // pixels
  std::string folder;               // that files are saved into; empty: the current one
  float side_width = 22.5f;         // of the panels, in font sizes
  Rect window;                      // see Screen::place(); a width of 0: unknown
  std::vector<std::string> recent;  // names of sources, the last one first
};

// In the user's configuration folder (XDG); empty if there is none.
std::filesystem::path settings_file();

// Gives `panels` what they have remembered. Returns `otherwise`, and leaves the panels as they are
// at first, if nothing was saved, or nothing valid.
Remembered read_settings(const std::filesystem::path& file, const Remembered& otherwise,
                         Panels& panels);
// Throws OutputError.
void write_settings(const std::filesystem::path& file, const Remembered& remembered,
                    const Panels& panels);

}  // namespace facesat::app

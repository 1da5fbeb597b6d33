// Small pieces that all panels of the window use.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace facesat::app {

// Draws an error message, marked by a bar in the colour of warnings.
void draw_warning(const std::string& message);

// Draws a sentence that is less important than the rest.
void draw_remark(const std::string& text);

// Explains the control, column or text drawn last after the pointer has been over it for a moment;
// also if that is disabled.
void tooltip(const std::string& text);

// A column of a table; the tooltip of its title has the meaning.
struct Column {
  const char *title, *meaning;
};
void draw_column_titles(std::span<const Column> columns);

// Closes the lists that are open, such as that of a combo box. Returns whether there were any.
bool close_lists();

// Draws a small square of this colour, an ImU32, in front of what follows; only its outline unless
// it is filled.
void draw_swatch(std::uint32_t colour, bool is_filled = true);

// Draws a red disc and how long the video has been recorded into the upper right corner of the
// current window.
void draw_recording_mark(std::chrono::nanoseconds recorded);

}  // namespace facesat::app

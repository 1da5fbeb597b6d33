// Small pieces that all panels of the window use, and short messages over the picture.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

namespace facesat::app {

// Draws an error message, marked by a bar in the colour of warnings.
void draw_warning(const std::string& message);

// The text or, if it is wider than this, as much of its beginning as fits and "...".
std::string shortened(std::string text, float width);

// Draws one line, also if there is nothing to say, so that nothing below it moves as the text
// changes. The tooltip has what does not fit, and `meaning`.
void draw_status(const std::string& text, const std::string& meaning, bool is_warning = false);

// Draws a sentence that is less important than the rest.
void draw_remark(const std::string& text);

// Explains the control, column or text drawn last after the pointer has been over it for a moment;
// also if that is disabled.
void tooltip(const std::string& text);
// Is it time for that?
bool wants_tooltip();
// The same at once, wherever the pointer is.
void draw_tooltip(const std::string& text);

// A column of a table; the tooltip of its title has the meaning.
struct Column {
  const char *title, *meaning;
  int width = 0;  // ImGuiTableColumnFlags; 0: as the table's flags say
};
// Begins a table with a row of titles, which stays where it is if the table scrolls. flags:
// ImGuiTableFlags; height: 0 for that of the rows. Returns false if nothing of it is seen, as
// ImGui::BeginTable().
bool begin_table(const char* id, std::span<const Column> columns, int flags, float height = 0);

// An entry of a list to choose from.
struct Entry {
  std::string name, meaning{};  // meaning: its tooltip
  bool is_usable = true;
};
// A list that shows `shown` while it is closed, with the tooltip `meaning`. Returns the index of
// the entry that was clicked. chosen: that of the entry in use.
std::optional<std::size_t> choose(const char* label, const std::string& shown,
                                  const std::string& meaning, std::span<const Entry> entries,
                                  std::size_t chosen = std::string::npos);

// Closes the lists that are open, such as that of a combo box. Returns whether there were any.
bool close_lists();

// Draws a small square of this colour, an ImU32, in front of what follows; only its outline unless
// it is filled.
void draw_swatch(std::uint32_t colour, bool is_filled = true);

// Draws a red disc and how long the video has been recorded into the upper right corner of the
// current window.
void draw_recording_mark(std::chrono::nanoseconds recorded);

// Short messages over the picture, such as where a screenshot was saved.
class Toasts {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds lifetime{6};
  static constexpr std::size_t most = 5;  // the oldest make room for new ones

  void say(std::string text);
  // Says where a file or folder is, and offers to open its folder.
  void say_saved(const std::string& path);
  void warn(std::string text);  // stays until it is clicked

  // Draws them along the upper edge of the current window.
  void draw();

  struct Toast {
    std::string text;
    bool is_warning = false;
    Clock::time_point since;
    std::string folder{};  // that can be opened; empty: none
  };
  // Those that are shown at this time.
  const std::deque<Toast>& shown(Clock::time_point now);

 private:
  void add(Toast toast);

  std::deque<Toast> toasts_;
};

}  // namespace facesat::app

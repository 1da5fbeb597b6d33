#include "app/live/gui/widgets.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include "app/common/child_process.hpp"

namespace facesat::app {

namespace {

// Calls draw() and marks what it draws by a bar. The sentence has the colour of all text, which is
// readable in both themes.
template <class Draw>
void draw_marked(Draw draw) {
  constexpr ImU32 colour = IM_COL32(255, 153, 51, 255);
  constexpr float bar = 4, gap = 8;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::Indent(bar + gap);
  draw();
  ImGui::Unindent(bar + gap);
  ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + bar, ImGui::GetItemRectMax().y},
                                            colour);
}

float tooltip_width() {
  constexpr float letters_per_line = 24;
  return ImGui::GetFontSize() * letters_per_line;
}

}  // namespace

void draw_warning(const std::string& message) {
  draw_marked([&] { ImGui::TextWrapped("%s", message.c_str()); });
}

std::string shortened(std::string text, float width) {
  if (ImGui::CalcTextSize(text.c_str()).x <= width) return text;
  const auto is_inside_character = [](char c) { return (c & 0xC0) == 0x80; };  // of UTF-8
  while (!text.empty() && ImGui::CalcTextSize((text + "...").c_str()).x > width) {
    while (text.size() > 1 && is_inside_character(text.back())) text.pop_back();
    text.pop_back();
  }
  return text + "...";
}

void draw_status(const std::string& text, const std::string& meaning, bool is_warning) {
  std::string shown;
  const auto draw = [&] {
    shown = shortened(text, ImGui::GetContentRegionAvail().x);
    ImGui::TextUnformatted(shown.c_str());
  };
  if (is_warning && !text.empty())
    draw_marked(draw);
  else
    draw();
  const std::string rest = shown == text ? "" : text + (meaning.empty() ? "" : "\n");
  if (!rest.empty() || !meaning.empty()) tooltip(rest + meaning);
}

void draw_remark(const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  ImGui::TextWrapped("%s", text.c_str());
  ImGui::PopStyleColor();
}

namespace {

// Has the pointer been over the item drawn last for a while? Tooltips that came at once would cover
// what the pointer is on its way to.
bool is_pointed_at() {
  constexpr double delay = 0.4;  // seconds
  struct Pointed {
    ImVec2 corner;
    double since, seen;
  };
  static Pointed pointed{};
  const double now = ImGui::GetTime(), previous_frame = now - 2 * ImGui::GetIO().DeltaTime;
  const ImVec2 corner = ImGui::GetItemRectMin();
  if (pointed.corner.x != corner.x || pointed.corner.y != corner.y ||
      pointed.seen < previous_frame || pointed.seen > now)
    pointed = {corner, now, now};
  pointed.seen = now;
  return now - pointed.since >= delay;
}

}  // namespace

bool begin_table(const char* id, std::span<const Column> columns, int flags, float height) {
  if (!ImGui::BeginTable(id, static_cast<int>(columns.size()), flags, {0, height})) return false;
  if ((flags & ImGuiTableFlags_ScrollY) != 0) ImGui::TableSetupScrollFreeze(0, 1);
  for (const Column& column : columns) ImGui::TableSetupColumn(column.title, column.width);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const Column& column : columns) {
    ImGui::TableNextColumn();
    ImGui::TableHeader(column.title);
    tooltip(column.meaning);
  }
  return true;
}

std::optional<std::size_t> choose(const char* label, const std::string& shown,
                                  const std::string& meaning, std::span<const Entry> entries,
                                  std::size_t chosen) {
  if (!ImGui::BeginCombo(label, shown.c_str())) {
    tooltip(meaning);
    return std::nullopt;
  }
  std::optional<std::size_t> clicked;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const ImGuiSelectableFlags flags =
        entry.is_usable ? ImGuiSelectableFlags_None : ImGuiSelectableFlags_Disabled;
    // The keyboard reaches disabled entries, too.
    if (ImGui::Selectable(entry.name.c_str(), i == chosen, flags) && entry.is_usable) clicked = i;
    if (!entry.meaning.empty()) tooltip(entry.meaning);
  }
  ImGui::EndCombo();
  return clicked;
}

bool close_lists() {
  const bool is_open = !ImGui::GetCurrentContext()->OpenPopupStack.empty();
  if (is_open) ImGui::ClosePopupToLevel(0, true);
  return is_open;
}

bool wants_tooltip() {
  return ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) && !ImGui::IsItemActive() &&
         is_pointed_at();
}

void tooltip(const std::string& text) {
  if (!wants_tooltip()) return;
  // Below the control or, where there is no room, above it; never over it.
  const ImVec2 first = ImGui::GetItemRectMin(), last = ImGui::GetItemRectMax();
  const ImVec2 padding = ImGui::GetStyle().WindowPadding;
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  const ImVec2 extent = ImGui::CalcTextSize(text.c_str(), nullptr, false, tooltip_width());
  const ImVec2 begin = ImGui::GetMainViewport()->WorkPos, size = ImGui::GetMainViewport()->WorkSize;
  const bool fits = last.y + gap + extent.y + 2 * padding.y <= begin.y + size.y;
  const float rightmost = begin.x + size.x - extent.x - 2 * padding.x;
  ImGui::SetNextWindowPos(
      {std::max(begin.x, std::min(first.x, rightmost)), fits ? last.y + gap : first.y - gap},
      ImGuiCond_Always, {0, fits ? 0.0f : 1.0f});
  draw_tooltip(text);
}

void draw_tooltip(const std::string& text) {
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(tooltip_width());
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void draw_swatch(std::uint32_t colour, bool is_filled) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float side = ImGui::GetTextLineHeight() * 0.7f;
  const float top = corner.y + ImGui::GetTextLineHeight() * 0.15f;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 begin{corner.x, top}, end{corner.x + side, top + side};
  if (is_filled)
    list.AddRectFilled(begin, end, colour);
  else
    list.AddRect(begin, end, colour);
  ImGui::Dummy({side, side});
  ImGui::SameLine();
}

void draw_recording_mark(std::chrono::nanoseconds recorded) {
  constexpr ImU32 red = IM_COL32(230, 40, 40, 255), shade = IM_COL32(0, 0, 0, 160);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(recorded).count();
  const std::string text = fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  const float height = ImGui::GetTextLineHeight(), margin = height / 2;
  const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
  const ImVec2 origin = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const ImVec2 corner{origin.x + size.x - extent.x - height - 3 * margin, origin.y + margin};
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(corner, {origin.x + size.x - margin, corner.y + height + margin}, shade, 4);
  list->AddCircleFilled({corner.x + margin + height / 3, corner.y + margin / 2 + height / 2},
                        height / 3, red);
  list->AddText({corner.x + margin + height, corner.y + margin / 2}, IM_COL32_WHITE, text.c_str());
}

void Toasts::say(std::string text) {
  add({std::move(text), false, Clock::now()});
}

void Toasts::say_saved(const std::string& path) {
  static const bool can_open = is_installed("xdg-open");
  std::error_code ignored;
  const std::filesystem::path saved(path);
  const auto folder = std::filesystem::is_directory(saved, ignored) ? saved : saved.parent_path();
  add({"saved: " + path, false, Clock::now(), can_open ? folder.string() : ""});
}

void Toasts::warn(std::string text) {
  add({std::move(text), true, Clock::now()});
}

void Toasts::add(Toast toast) {
  std::erase_if(toasts_, [&](const Toast& other) { return other.text == toast.text; });
  toasts_.push_back(std::move(toast));
  if (toasts_.size() > most) toasts_.pop_front();
}

const std::deque<Toasts::Toast>& Toasts::shown(Clock::time_point now) {
  std::erase_if(toasts_, [now](const Toast& toast) {
    return !toast.is_warning && now - toast.since >= lifetime;
  });
  return toasts_;
}

void Toasts::draw() {
  const ImVec2 origin = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float margin = ImGui::GetFontSize() / 2;
  float top = origin.y + margin;
  std::size_t clicked = most;
  shown(Clock::now());
  for (std::size_t i = toasts_.size(); i-- > 0;) {  // the newest at the top
    const Toast& toast = toasts_[i];
    ImGui::SetNextWindowPos({origin.x + size.x / 2, top}, ImGuiCond_Always, {0.5f, 0});
    ImGui::SetNextWindowSizeConstraints({0, 0}, {size.x - 2 * margin, size.y});
    ImGui::Begin(fmt::format("toast {}", i).c_str(), nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_Tooltip);
    ImGui::PushTextWrapPos(std::min(size.x - 4 * margin, 40 * ImGui::GetFontSize()));
    if (toast.is_warning)
      draw_warning(toast.text);
    else
      ImGui::TextUnformatted(toast.text.c_str());
    ImGui::PopTextWrapPos();
    if (!toast.folder.empty() && ImGui::SmallButton("open the folder"))
      start_detached({"xdg-open", toast.folder});
    if (ImGui::IsWindowHovered() && !ImGui::IsAnyItemHovered() &&
        ImGui::IsMouseClicked(ImGuiMouseButton_Left))
      clicked = i;
    top += ImGui::GetWindowHeight() + margin / 2;
    ImGui::End();
  }
  if (clicked < toasts_.size())
    toasts_.erase(toasts_.begin() + static_cast<std::ptrdiff_t>(clicked));
}

}  // namespace facesat::app

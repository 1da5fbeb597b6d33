#include "app/live/gui/widgets.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

namespace facesat::app {

// The sentence has the colour of all text, which is readable in both themes.
void draw_warning(const std::string& message) {
  constexpr ImU32 colour = IM_COL32(255, 153, 51, 255);
  constexpr float bar = 4, gap = 8;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::Indent(bar + gap);
  ImGui::TextWrapped("%s", message.c_str());
  ImGui::Unindent(bar + gap);
  ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + bar, ImGui::GetItemRectMax().y},
                                            colour);
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

void draw_column_titles(std::span<const Column> columns) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const Column& column : columns) {
    ImGui::TableNextColumn();
    ImGui::TableHeader(column.title);
    tooltip(column.meaning);
  }
}

bool close_lists() {
  const bool is_open = !ImGui::GetCurrentContext()->OpenPopupStack.empty();
  if (is_open) ImGui::ClosePopupToLevel(0, true);
  return is_open;
}

void tooltip(const std::string& text) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || ImGui::IsItemActive()) return;
  if (!is_pointed_at()) return;
  constexpr float letters_per_line = 24;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * letters_per_line);
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

}  // namespace facesat::app

#include "app/live/widgets.hpp"

#include <imgui.h>

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

void tooltip(const std::string& text) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  constexpr float letters_per_line = 24;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * letters_per_line);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace facesat::app

#include <imgui.h>

#include "app/live/panels.hpp"

namespace facesat::app {

bool draw_comparison(Detection& detection, LiveSettings& settings) {
  if (ImGui::Button("compare all on this frame")) detection.compare();
  const auto comparison = detection.comparison();
  if (!comparison) return false;
  if (!comparison->message.empty()) ImGui::TextWrapped("%s", comparison->message.c_str());
  if (comparison->ranks.empty()) return false;
  ImGui::Text("%d x %d: an atlas of %d x %d", comparison->image.width, comparison->image.height,
              comparison->atlas.width, comparison->atlas.height);
  bool changed = false;
  if (!ImGui::BeginTable("ranks", 4, ImGuiTableFlags_RowBg)) return false;
  ImGui::TableSetupColumn("algorithm", ImGuiTableColumnFlags_WidthStretch, 2.5f);
  for (const char* title : {"SAT ms", "frame ms", "faces"})
    ImGui::TableSetupColumn(title, ImGuiTableColumnFlags_WidthStretch, 1);
  ImGui::TableHeadersRow();
  for (const SatRank& rank : comparison->ranks) {
    ImGui::TableNextColumn();
    if (ImGui::Selectable(rank.id.c_str(), rank.id == settings.backend.sat)) {
      settings.backend.sat = rank.id;
      changed = true;
    }
    ImGui::TableNextColumn();
    ImGui::Text("%.3f", rank.sat_ms);
    ImGui::TableNextColumn();
    ImGui::Text("%.3f", rank.detect_ms);
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(rank.identical ? "identical" : "DIFFERENT");
  }
  ImGui::EndTable();
  return changed;
}

}  // namespace facesat::app

#include "app/live/panels/grid.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

namespace facesat::app {
namespace {

// The mark of an entry, since longer lists share them.
FaceMarks::Mark mark_of(std::size_t entry, std::size_t count, const FaceMarks& marks) {
  const std::size_t known = marks.marks().size();
  return known == 0 ? FaceMarks::Mark::unknown : marks.marks()[entry * known / count];
}

void draw_frame(ImU32 colour, float side, float thickness) {
  const ImVec2 corner = ImGui::GetItemRectMin();
  ImGui::GetWindowDrawList()->AddRect(corner, {corner.x + side, corner.y + side}, colour,
                                      ImGui::GetStyle().FrameRounding, 0, thickness);
}

}  // namespace

std::optional<std::size_t> Grid::draw(const Capture::State& state, const FaceMarks& marks) {
  if (!state.list) return std::nullopt;
  if (std::exchange(lists_, state.lists) != state.lists) thumbnails_.forget();
  std::optional<std::size_t> clicked;
  ImGui::BeginChild("grid", {0, 0}, false, ImGuiWindowFlags_AlwaysVerticalScrollbar);
  const std::vector<PlaylistEntry>& list = *state.list;
  const float gap = ImGui::GetStyle().ItemSpacing.x, space = ImGui::GetContentRegionAvail().x;
  const int columns = std::max(1, static_cast<int>(space / (10 * ImGui::GetFontSize())));
  const float side = (space - static_cast<float>(columns - 1) * gap) / static_cast<float>(columns);
  const float height = tile_height(side) + ImGui::GetStyle().ItemSpacing.y;
  const int count = static_cast<int>(list.size()), rows = (count + columns - 1) / columns;
  if (std::exchange(is_new_, false))
    ImGui::SetScrollY(static_cast<float>(static_cast<int>(state.entry) / columns) * height);
  ImGuiListClipper clipper;
  clipper.Begin(rows, height);
  while (clipper.Step())
    for (int i = clipper.DisplayStart * columns; i < std::min(clipper.DisplayEnd * columns, count);
         ++i) {
      const auto entry = static_cast<std::size_t>(i);
      if (i % columns != 0) ImGui::SameLine();
      ImGui::PushID(i);
      if (draw_tile(list[entry].name, thumbnails_.of(list[entry].source), side)) clicked = entry;
      ImGui::PopID();
      if (mark_of(entry, list.size(), marks) == FaceMarks::Mark::faces)
        draw_frame(box_colour(0), side, 2);
      if (entry == state.entry) draw_frame(ImGui::GetColorU32(ImGuiCol_CheckMark), side, 4);
    }
  ImGui::EndChild();
  return clicked;
}

}  // namespace facesat::app

// The panel of the object that is followed, and its box over the picture.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/sat_parts.hpp"

namespace facesat::app {
namespace {

constexpr ImU32 colour = IM_COL32(255, 20, 90, 255);  // that no cascade has

void draw_box(const PictureView& view, const Rect& box, const std::string& label) {
  const ImVec2 first = view.at(box.x, box.y), last = view.at(box.x + box.width, box.y + box.height);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRect(first, last, colour, 0, 0, 3);
  if (label.empty()) return;
  const ImVec2 extent = ImGui::CalcTextSize(label.c_str());
  const ImVec2 corner{first.x, last.y + 2};
  list.AddRectFilled(corner, {corner.x + extent.x + 4, corner.y + extent.y},
                     IM_COL32(0, 0, 0, 210));
  list.AddText({corner.x + 2, corner.y}, colour, label.c_str());
}

// A column for each bin: the object's pixels as a ground, those of the match in front of it.
void draw_histograms(const Track& track) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, 4 * ImGui::GetTextLineHeight()};
  const float width = size.x / histogram_bins, bottom = corner.y + size.y;
  const std::uint32_t most = std::max(*std::max_element(track.object.begin(), track.object.end()),
                                      *std::max_element(track.match.begin(), track.match.end()));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto draw = [&](const Histogram& histogram, float gap, ImU32 of) {
    for (std::size_t bin = 0; bin < histogram.size(); ++bin) {
      const float left = corner.x + width * static_cast<float>(bin);
      const float height =
          size.y * static_cast<float>(histogram[bin]) / static_cast<float>(std::max(most, 1u));
      list.AddRectFilled({left + gap * width, bottom - height}, {left + (1 - gap) * width, bottom},
                         of);
    }
  };
  draw(track.object, 0.05f, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  draw(track.match, 0.3f, colour);
  list.AddLine({corner.x, bottom}, {corner.x + size.x, bottom}, ImGui::GetColorU32(ImGuiCol_Text));
  ImGui::Dummy(size);
  tooltip(fmt::format(
      "How many pixels have which grey value, from black at the left to white at the right, in {} "
      "bins: grey of the object as it was marked, red of the box in this frame",
      histogram_bins));
}

class TrackingPanel final : public Panel {
 public:
  TrackingPanel() : Panel("Followed object") {}
  bool is_wanted(const PanelContext& context) const override {
    return context.result.track.has_value();
  }
  void begin(PanelContext& context) override;
  void draw(PanelContext& context) override;
  void draw_over(PanelContext& context) override;
  bool handle_key(const Screen::Press& press, PanelContext& context) override;

 private:
  std::string ended_;  // what was said
};

void TrackingPanel::begin(PanelContext& context) {
  const std::string& ended = context.result.track_ended;
  if (std::exchange(ended_, ended) != ended && !ended.empty()) context.toasts.say(ended);
}

void TrackingPanel::draw(PanelContext& context) {
  const Track& track = *context.result.track;
  draw_status(fmt::format("{:.0f}% in common, {} x {} at ({}, {})", track.percent(),
                          track.box.width, track.box.height, track.box.x, track.box.y),
              "The histograms of the object, as it was marked, and of the box have this share of "
              "their pixels in common. No other box of this size near its last place has more");
  draw_histograms(track);
  draw_status(
      track.ms == 0 ? "marked in this frame" : fmt::format("found in {}", time_text(track.ms)),
      fmt::format("All boxes up to {} pixels away from the last place are compared, with "
                  "integral histograms on a GPU. The time includes the grey image and the "
                  "transfers",
                  reach_in(context.result.frame.picture.pixels.size)));
  if (ImGui::Button("no longer")) context.wishes.followed = Rect{};
  tooltip("The object is not followed any more. Also Shift+click into the picture, or Esc");
}

void TrackingPanel::draw_over(PanelContext& context) {
  const LiveResult& result = context.result;
  if (!result.view_is_frame) return;
  const PictureView& view = context.view;
  if (!view.draws_boxes()) {  // otherwise they are those of objects to learn from
    if (const auto box = view.marking()) draw_box(view, *box, "");
    if (const auto box = view.marked()) context.wishes.followed = box;
  }
  if (result.track)
    draw_box(view, result.track->box, fmt::format("{:.0f}%", result.track->percent()));
}

bool TrackingPanel::handle_key(const Screen::Press& press, PanelContext& context) {
  if (press.key != Screen::escape || !is_wanted(context)) return false;
  context.wishes.followed = Rect{};
  return true;
}

}  // namespace

std::unique_ptr<Panel> make_tracking_panel() {
  return std::make_unique<TrackingPanel>();
}

}  // namespace facesat::app

#include "app/live/panels/pinned.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include "app/common/fields.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/window_parts.hpp"

namespace facesat::app {

std::string different_settings(const LiveSettings& of, const LiveSettings& other) {
  std::vector<std::string> parts;
  if (of.cascades != other.cascades)
    parts.push_back(fmt::format("{}", fmt::join(of.cascades, " + ")));
  const auto add = [&parts](const auto& fields, const auto& options, const auto& others) {
    for (const auto& field : fields)
      if (const std::string text = text_of(field, options); text != text_of(field, others))
        parts.push_back(text.empty() ? fmt::format("without {}", field.name)
                                     : fmt::format("{} {}", field.name, text));
  };
  add(detection_fields(), of.detect, other.detect);
  add(backend_fields(), of.backend, other.backend);
  return fmt::format("{}", fmt::join(parts, ", "));
}

void PinnedResult::toggle(const LiveResult& result, PictureView& view) {
  const View<const Bgr> pixels = result.frame.picture.pixels;
  if (pinned_)
    pinned_.reset();
  else if (pixels.size.area() > 0)
    pinned_ = {result.faces, result.settings, pixels.size};
  if (pinned_) view.pin(pixels);
  note(result, view);
}

bool PinnedResult::fits(const LiveResult& now) const {
  return pinned_ && now.frame.picture.pixels.size == pinned_->size;
}

void PinnedResult::note(const LiveResult& now, PictureView& view) const {
  view.compare(fits(now));
}

// A line of text along the upper edge of the view, at the left or right of its middle, wherever the
// line is that divides the pictures: so that it is not cut off as the line moves.
static void draw_caption(const PictureView& view, const std::string& whole, bool at_right) {
  const float padding = ImGui::GetFontSize() / 2;
  const float half = view.space().x / 2, middle = view.corner().x + half;
  const std::string text = shortened(whole, half - 4 * padding);
  const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
  const float x = at_right ? middle + 2 * padding : middle - extent.x - 2 * padding;
  const float y = view.corner().y + 2 * padding;
  draw_ground({x - padding, y - padding / 2}, {x + extent.x + padding, y + extent.y + padding / 2});
  ImGui::GetWindowDrawList()->AddText({x, y}, ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
}

void PinnedResult::draw(const PictureView& view, const LiveResult& now, bool labels) const {
  if (!pinned_) return;
  if (!fits(now)) return draw_caption(view, "pinned: a picture of another size", false);
  const float line = view.line();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(view.corner(), {line, view.corner().y + view.space().y}, true);
  draw_boxes(view, pinned_->faces, {.labels = labels, .highlighted = {}, .follows_pointer = false});
  list.PopClipRect();
  const auto caption = [](const char* name, std::size_t faces, const std::string& settings) {
    return fmt::format("{}: {} {}{}{}", name, faces, faces == 1 ? "face" : "faces",
                       settings.empty() ? "" : ", ", settings);
  };
  draw_caption(
      view,
      caption("pinned", pinned_->faces.size(), different_settings(pinned_->settings, now.settings)),
      false);
  draw_caption(
      view, caption("now", now.faces.size(), different_settings(now.settings, pinned_->settings)),
      true);
}

}  // namespace facesat::app

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

void PinnedResult::note(const LiveResult& now, PictureView& view) const {
  view.compare(pinned_ && now.frame.picture.pixels.size == pinned_->size);
}

// A line of text along the upper edge of the view, from `left` on or up to `right`.
static void draw_caption(const PictureView& view, const std::string& whole, float left, float right,
                         bool at_right) {
  const float padding = ImGui::GetFontSize() / 2;
  const std::string text = shortened(whole, right - left - 4 * padding);
  const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
  if (extent.x > right - left - 2 * padding) return;
  const float x = at_right ? right - extent.x - 2 * padding : left + 2 * padding;
  const float y = view.corner().y + 2 * padding;
  draw_ground({x - padding, y - padding / 2}, {x + extent.x + padding, y + extent.y + padding / 2});
  ImGui::GetWindowDrawList()->AddText({x, y}, ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
}

void PinnedResult::draw(const PictureView& view, const LiveResult& now, bool labels) const {
  if (!pinned_ || now.frame.picture.pixels.size != pinned_->size) return;
  const float line = view.line(), left = view.corner().x, right = left + view.space().x;
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
      left, line, true);
  draw_caption(
      view, caption("now", now.faces.size(), different_settings(now.settings, pinned_->settings)),
      line, right, false);
}

}  // namespace facesat::app

#include "app/live/toasts.hpp"

#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/widgets.hpp"

namespace facesat::app {

void Toasts::say(std::string text) {
  add({std::move(text), false, Clock::now()});
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

void Toasts::draw(float above) {
  const ImVec2 origin = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float margin = ImGui::GetFontSize() / 2;
  float bottom = origin.y + size.y - above - margin;
  std::size_t clicked = most;
  shown(Clock::now());
  for (std::size_t i = toasts_.size(); i-- > 0;) {  // the newest at the bottom
    const Toast& toast = toasts_[i];
    ImGui::SetNextWindowPos({origin.x + margin, bottom}, ImGuiCond_Always, {0, 1});
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
    if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) clicked = i;
    bottom -= ImGui::GetWindowHeight() + margin / 2;
    ImGui::End();
  }
  if (clicked < toasts_.size())
    toasts_.erase(toasts_.begin() + static_cast<std::ptrdiff_t>(clicked));
}

}  // namespace facesat::app

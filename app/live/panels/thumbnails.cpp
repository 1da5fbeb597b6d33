#include "app/live/panels/thumbnails.hpp"

#include <algorithm>
#include <filesystem>

#include <imgui.h>

#include "app/live/gui/screen.hpp"
#include "app/live/gui/widgets.hpp"
#include "media/frame_source.hpp"
#include "media/source_name.hpp"
#include "results/inputs.hpp"

namespace facesat::app {

namespace fs = std::filesystem;

Thumbnails::Thumbnails()
    : thread_([this](const std::stop_token& stop) { run_once(stop); }, [](const std::string&) {}) {}

const Texture* Thumbnails::of(const std::string& source) {
  std::vector<Read> read;
  {
    const std::scoped_lock lock(mutex_);
    read.swap(read_);
    if (source_path(source) && asked_.insert(source).second) {
      wanted_.push_back(source);
      if (wanted_.size() > most) {  // what was scrolled past long ago
        asked_.erase(wanted_.front());
        wanted_.erase(wanted_.begin());
      }
      changed_.notify_all();
    }
  }
  for (const Read& one : read) {
    Kept& kept = textures_[one.source];
    kept.texture.set(one.picture.view());
    kept.used = ++uses_;
  }
  const auto found = textures_.find(source);
  if (found != textures_.end()) found->second.used = ++uses_;
  make_room();
  return found == textures_.end() ? nullptr : &found->second.texture;
}

void Thumbnails::forget() {
  const std::scoped_lock lock(mutex_);
  asked_.clear();
}

void Thumbnails::make_room() {
  while (textures_.size() > most) {
    const auto oldest =
        std::ranges::min_element(textures_, {}, [](const auto& kept) { return kept.second.used; });
    asked_.erase(oldest->first);
    textures_.erase(oldest);
  }
}

void Thumbnails::run_once(const std::stop_token& stop) {
  constexpr int longest_side = 320;  // pixels
  std::string source;
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return !wanted_.empty(); })) return;
    source = wanted_.back();  // who scrolls sees first what is there now
    wanted_.pop_back();
  }
  std::error_code ignored;  // reading a pipe could wait for ever
  if (!fs::is_regular_file(source, ignored) && !fs::is_directory(source, ignored)) return;
  Inputs inputs({.inputs = {source}, .excluded = {}});
  const std::optional<Input> first = inputs.next();
  if (!first || first->kind == Input::Kind::failure) return;
  const std::optional<Frame> frame = open_source(first->path.string())->next();
  if (!frame) return;
  const View<const Bgr> pixels = frame->picture.pixels;
  Image<Bgr> picture = shrink(pixels, shrink_factor(pixels.size, longest_side));
  {
    const std::scoped_lock lock(mutex_);
    read_.push_back({source, std::move(picture)});
  }
  Screen::wake();
}

float tile_height(float side) {
  return side + ImGui::GetStyle().ItemInnerSpacing.y + ImGui::GetTextLineHeight();
}

bool draw_tile(const std::string& name, const Texture* picture, float side) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool pressed = ImGui::InvisibleButton(name.c_str(), {side, tile_height(side)});
  const bool is_pointed = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(corner, {corner.x + side, corner.y + side},
                     ImGui::GetColorU32(is_pointed ? ImGuiCol_FrameBgHovered : ImGuiCol_FrameBg),
                     ImGui::GetStyle().FrameRounding);
  if (picture) {
    const auto width = static_cast<float>(picture->size().width),
               height = static_cast<float>(picture->size().height);
    const float scale = side / std::max(width, height);
    const float left = corner.x + (side - scale * width) / 2,
                top = corner.y + (side - scale * height) / 2;
    picture->draw(list, {left, top}, {left + scale * width, top + scale * height});
  }
  const std::string end = fs::path(name).filename().string();
  list.AddText({corner.x, corner.y + side + ImGui::GetStyle().ItemInnerSpacing.y},
               ImGui::GetColorU32(ImGuiCol_Text),
               shortened(end.empty() ? name : end, side).c_str());
  tooltip("Opens " + name);
  return pressed;
}

}  // namespace facesat::app

#include "app/live/panels/start_page.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/live/gui/widgets.hpp"
#include "media/frame_source.hpp"
#include "media/source_name.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

void draw_heading(const char* text) {
  ImGui::Dummy({0, ImGui::GetFontSize() / 2});
  ImGui::TextDisabled("%s", text);
}

// Tab completes what is typed as far as all candidates agree.
int complete(ImGuiInputTextCallbackData* data) {
  const auto& completion = *static_cast<const PathCompletion*>(data->UserData);
  const auto answer = completion.answer();
  const std::string typed(data->Buf, static_cast<std::size_t>(data->BufTextLen));
  if (!answer || answer->typed != typed || answer->common.size() <= with_home(typed).size())
    return 0;
  data->DeleteChars(0, data->BufTextLen);
  data->InsertChars(0, answer->common.c_str());
  return 0;
}

// The demo video, which a checkout obtains with its album.
std::string demo_video() {
  constexpr const char* file = FACESAT_DEMO_VIDEO;
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) ? file : "";
}

}  // namespace

void add_recent(std::vector<std::string>& recent, const std::string& name) {
  constexpr std::size_t most = 8;
  std::string whole = name;
  std::error_code failure;
  if (source_path(name))
    if (const fs::path path = fs::absolute(name, failure); !failure)
      whole = path.lexically_normal().string();
  std::erase(recent, whole);
  recent.insert(recent.begin(), whole);
  if (recent.size() > most) recent.resize(most);
}

StartPage::Chosen StartPage::draw_back() {
  const bool is_clicked = ImGui::Button("back");
  tooltip("To what is open (Esc)");
  return is_clicked ? Chosen(std::in_place) : std::nullopt;
}

StartPage::Chosen StartPage::draw_files() {
  if (auto chosen = dialog_.take()) return chosen;
  if (dialog_.is_available()) {
    ImGui::BeginDisabled(dialog_.is_open());
    if (ImGui::Button("Open files...")) dialog_.open(Choosing::files);
    tooltip("Pictures and videos; several become a list");
    ImGui::SameLine();
    if (ImGui::Button("Open a folder...")) dialog_.open(Choosing::folder);
    tooltip("All pictures and videos in it become a list");
    ImGui::EndDisabled();
  }
  return draw_path();
}

StartPage::Chosen StartPage::draw_path() {
  const float button = ImGui::CalcTextSize("open").x + 2 * ImGui::GetStyle().FramePadding.x +
                       ImGui::GetStyle().ItemSpacing.x;
  ImGui::SetNextItemWidth(-button);
  if (std::exchange(wants_keyboard_, false) || !is_fresh_) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputTextWithHint(
      "##path", "path of a picture, video or folder, or a stream's URL", &typed_,
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCompletion |
          ImGuiInputTextFlags_AutoSelectAll,
      complete, &completion_);
  tooltip("Type where it is: Enter opens it, Tab completes it");
  if (ImGui::IsItemEdited()) completion_.ask(typed_);
  ImGui::SameLine();
  ImGui::BeginDisabled(typed_.empty());
  const bool is_pressed = ImGui::Button("open");
  ImGui::EndDisabled();
  tooltip("Opens what is in the field; of a folder, all its pictures and videos");
  if ((entered || is_pressed) && !typed_.empty()) return std::vector{with_home(typed_)};
  const auto answer = completion_.answer();
  if (typed_.empty() || !answer || answer->typed != typed_) return std::nullopt;
  for (const std::string& path : answer->paths) {
    const bool is_folder = path.ends_with('/'), is_chosen = ImGui::Selectable(path.c_str());
    tooltip((is_folder ? "Shows what is in " : "Opens ") + path);
    if (is_chosen && !is_folder) return std::vector{path};
    if (!is_chosen) continue;
    typed_ = path;
    completion_.ask(typed_);
    wants_keyboard_ = true;
  }
  if (answer->more > 0) ImGui::TextDisabled("and %zu more", answer->more);
  if (answer->paths.empty()) ImGui::TextDisabled("nothing here begins with this");
  return std::nullopt;
}

StartPage::Chosen StartPage::draw_cameras() const {
  draw_heading("Cameras");
  if (cameras_.empty()) ImGui::TextDisabled("no camera is connected");
  for (const CameraInfo& camera : cameras_) {
    const std::string number = fmt::format("{}", camera.number);
    if (ImGui::Selectable(
            fmt::format("{}: {}", number, camera.problem.empty() ? camera.name : camera.problem)
                .c_str()))
      return std::vector{number};
    tooltip("Opens this camera");
  }
  if (const std::string demo = demo_video(); !demo.empty()) {
    draw_heading("To try it out");
    if (ImGui::Selectable("the demo video")) return std::vector{demo};
    tooltip("A short video of faces: " + demo);
  }
  return std::nullopt;
}

StartPage::Chosen StartPage::draw_recent(const std::vector<std::string>& recent) {
  if (recent.empty()) return std::nullopt;
  draw_heading("Opened recently");
  for (const std::string& name : recent) {
    if (ImGui::Selectable(name.c_str())) return std::vector{name};
    tooltip("Opens " + name);
  }
  return std::nullopt;
}

StartPage::Chosen StartPage::draw(const std::vector<std::string>& recent,
                                  const Capture::State& state) {
  if (std::exchange(refused_, state.refused) != state.refused) refresh();
  if (!is_fresh_) cameras_ = cameras();
  // What could not be opened stays, so that it can be corrected.
  if (std::exchange(lists_, state.lists) != state.lists) typed_.clear();
  Chosen chosen;
  if (state.kind) chosen = draw_back();
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float width = std::min(34 * ImGui::GetFontSize(), space.x);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + (space.x - width) / 2);
  ImGui::BeginChild("start", {width, 0});
  ImGui::Dummy({0, std::max(0.0f, space.y / 8)});
  if (!state.refused.empty()) {
    draw_warning(state.refused);
    ImGui::Dummy({0, ImGui::GetFontSize() / 2});
  }
  ImGui::TextWrapped("Drop pictures, videos or folders onto this window, or choose:");
  if (Chosen files = draw_files()) chosen = files;
  if (Chosen camera = draw_cameras()) chosen = camera;
  if (Chosen again = draw_recent(recent)) chosen = again;
  ImGui::EndChild();
  is_fresh_ = true;
  return chosen;
}

}  // namespace facesat::app

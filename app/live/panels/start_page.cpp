#include "app/live/panels/start_page.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/live/gui/screen.hpp"
#include "app/live/gui/widgets.hpp"
#include "media/frame_source.hpp"
#include "media/source_name.hpp"

namespace facesat::app {

namespace fs = std::filesystem;

std::vector<std::string> dialog_command(std::string_view program, Choosing what) {
  std::vector<std::string> command{std::string(program)};
  const auto add = [&](std::initializer_list<const char*> more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  if (program == "zenity") {
    add({"--file-selection", "--title=facesat"});
    if (what == Choosing::files) add({"--multiple", "--separator=\n"});
    if (what == Choosing::folder) add({"--directory"});
  } else if (what == Choosing::files) {
    add({"--title", "facesat", "--multiple", "--separate-output", "--getopenfilename", "."});
  } else {
    add({"--title", "facesat", "--getexistingdirectory", "."});
  }
  return command;
}

FileDialog::FileDialog() {
  for (const char* const program : {"zenity", "kdialog"})
    if (program_.empty() && is_installed(program)) program_ = program;
}

void FileDialog::open(Choosing what) {
  if (!is_available() || is_open()) return;
  const auto lines = std::make_shared<std::vector<std::string>>();
  process_.emplace(
      dialog_command(program_, what), Stream::output,
      [lines](const std::string& line) { lines->push_back(line); },
      [this, lines](int status) {
        if (status == 0 && !lines->empty()) chosen_.put(std::move(*lines));
        Screen::wake();
      });
}

std::string with_home(const std::string& path) {
  const char* const home = std::getenv("HOME");
  if (!home || (path != "~" && !path.starts_with("~/"))) return path;
  return home + path.substr(1);
}

Completions complete_path(const std::string& typed) {
  constexpr std::size_t most = 12;
  Completions completions;
  completions.typed = typed;
  const std::string path = with_home(typed);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "" : path.substr(0, slash + 1);
  const std::string begin = path.substr(folder.size());
  std::error_code failure;
  std::vector<std::string>& paths = completions.paths;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin) || (name.front() == '.' && begin.empty())) continue;
    std::error_code ignored;
    if (entry->is_directory(ignored))
      paths.push_back(folder + name + "/");
    else if (has_media_extension(name))
      paths.push_back(folder + name);
  }
  std::sort(paths.begin(), paths.end());
  if (!paths.empty()) {  // all that lie between the first and the last begin as these two do
    const auto [end, unused] = std::mismatch(paths.front().begin(), paths.front().end(),
                                             paths.back().begin(), paths.back().end());
    completions.common.assign(paths.front().begin(), end);
  }
  if (paths.size() > most) {
    completions.more = paths.size() - most;
    paths.resize(most);
  }
  return completions;
}

PathCompletion::PathCompletion()
    : thread_([this](const std::stop_token& stop) { run_once(stop); }, [](const std::string&) {}) {}

void PathCompletion::ask(const std::string& typed) {
  const std::scoped_lock lock(mutex_);
  typed_ = typed;
  changed_.notify_all();
}

std::shared_ptr<const Completions> PathCompletion::answer() const {
  const std::scoped_lock lock(mutex_);
  return answer_;
}

void PathCompletion::run_once(const std::stop_token& stop) {
  std::string typed;
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return typed_.has_value(); })) return;
    typed = *std::exchange(typed_, std::nullopt);
  }
  auto answer = std::make_shared<const Completions>(complete_path(typed));
  {
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(answer);
  }
  Screen::wake();
}

namespace {

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
  constexpr int columns = 4;
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const float side = (ImGui::GetContentRegionAvail().x - (columns - 1) * gap) / columns;
  if (!is_fresh_) thumbnails_.forget();
  for (std::size_t i = 0; i < recent.size(); ++i) {
    if (i % columns != 0) ImGui::SameLine();
    if (draw_tile(recent[i], thumbnails_.of(recent[i]), side)) return std::vector{recent[i]};
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
  ImGui::Dummy({0, std::max(0.0f, space.y / 12)});
  if (!state.refused.empty()) {
    draw_warning(state.refused);
    ImGui::Dummy({0, ImGui::GetFontSize() / 2});
  }
  ImGui::SetWindowFontScale(1.8f);
  ImGui::TextUnformatted("facesat");
  ImGui::SetWindowFontScale(1);
  ImGui::TextWrapped("Finds faces in cameras, videos and pictures, and shows how it does that.");
  ImGui::Dummy({0, ImGui::GetFontSize() / 2});
  ImGui::TextWrapped("Drop pictures, videos or folders onto this window, or choose:");
  if (Chosen files = draw_files()) chosen = files;
  if (Chosen camera = draw_cameras()) chosen = camera;
  if (Chosen again = draw_recent(recent)) chosen = again;
  ImGui::EndChild();
  is_fresh_ = true;
  return chosen;
}

}  // namespace facesat::app

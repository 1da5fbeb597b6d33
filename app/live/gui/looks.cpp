#include <array>
#include <filesystem>
#include <initializer_list>

#include <imgui.h>

#include "app/live/gui/screen.hpp"

namespace facesat::app {
namespace {

// The colours that all others are mixed from.
struct Palette {
  ImVec4 ground, panel, field, line, text, accent;
};
const Palette dark_palette{{0.075f, 0.082f, 0.094f, 1}, {0.106f, 0.118f, 0.137f, 1},
                           {0.157f, 0.173f, 0.200f, 1}, {0.235f, 0.259f, 0.298f, 1},
                           {0.890f, 0.902f, 0.918f, 1}, {0.220f, 0.565f, 0.780f, 1}};
const Palette light_palette{{0.953f, 0.957f, 0.965f, 1}, {1, 1, 1, 1},
                            {0.894f, 0.906f, 0.922f, 1}, {0.769f, 0.788f, 0.816f, 1},
                            {0.110f, 0.125f, 0.149f, 1}, {0.110f, 0.471f, 0.706f, 1}};

ImVec4 mixed(const ImVec4& a, const ImVec4& b, float part_of_b) {
  const auto mix = [part_of_b](float x, float y) { return x + (y - x) * part_of_b; };
  return {mix(a.x, b.x), mix(a.y, b.y), mix(a.z, b.z), mix(a.w, b.w)};
}

ImVec4 faded(ImVec4 colour, float opacity) {
  colour.w = opacity;
  return colour;
}

void set_colours(ImVec4* colours, const Palette& p) {
  const ImVec4 tint = mixed(p.field, p.accent, 0.35f), strong_tint = mixed(p.field, p.accent, 0.6f);
  const auto set = [colours](std::initializer_list<ImGuiCol> names, const ImVec4& colour) {
    for (const ImGuiCol name : names) colours[name] = colour;
  };
  set({ImGuiCol_Text}, p.text);
  set({ImGuiCol_TextDisabled}, mixed(p.panel, p.text, 0.55f));
  set({ImGuiCol_WindowBg, ImGuiCol_MenuBarBg}, p.ground);
  set({ImGuiCol_PopupBg, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed},
      p.panel);
  set({ImGuiCol_ChildBg, ImGuiCol_BorderShadow, ImGuiCol_TableRowBg}, {0, 0, 0, 0});
  set({ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderStrong, ImGuiCol_TableBorderLight},
      p.line);
  set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_ScrollbarBg}, p.field);
  set({ImGuiCol_Header, ImGuiCol_TableHeaderBg}, mixed(p.ground, p.field, 0.75f));
  set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered}, tint);
  set({ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive}, strong_tint);
  set({ImGuiCol_ScrollbarBg}, faded(p.field, 0.4f));
  set({ImGuiCol_ScrollbarGrab}, p.line);
  set({ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive, ImGuiCol_CheckMark,
       ImGuiCol_NavHighlight},
      p.accent);
  // Texts of sliders lie over their knobs.
  set({ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive}, mixed(p.field, p.accent, 0.7f));
  set({ImGuiCol_TextSelectedBg}, faded(p.accent, 0.4f));
  set({ImGuiCol_TableRowBgAlt}, faded(p.field, 0.35f));
}

// Proportional fonts whose figures all have the same width, so that changing numbers do not move.
constexpr std::array sans{"/usr/share/fonts/truetype/open-sans/OpenSans-Regular.ttf",
                          "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
                          "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"};
constexpr std::array cjk{"/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
                         "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
                         "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
                         "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
                         "/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf",
                         "/usr/share/fonts/truetype/vlgothic/VL-Gothic-Regular.ttf",
                         "/usr/share/fonts/truetype/nanum/NanumGothic.ttf",
                         "/usr/share/fonts/truetype/arphic/uming.ttc"};

// Pairs of first and last code points, as Dear ImGui takes them; it keeps the pointers.
constexpr ImWchar european[] = {0x0020, 0x024F,  // Latin
                                0x0370, 0x052F,  // Greek, Cyrillic
                                0x1E00, 0x1FFF,  // Vietnamese, polytonic Greek
                                0x2010, 0x2044,  // dashes, quotation marks
                                0x20A0, 0x20BF,  // currencies
                                0x2190, 0x2193,  // arrows
                                0x2260, 0x2265, 0};
constexpr ImWchar asian[] = {0x3000, 0x30FF,  // punctuation, kana
                             0x4E00, 0x9FA5,  // ideographs
                             0xAC00, 0xD7A3,  // Hangul
                             0xFF00, 0xFFEF,  // full-width forms
                             0};

template <std::size_t n>
const char* first_installed(const std::array<const char*, n>& files) {
  std::error_code ignored;
  for (const char* const file : files)
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  return nullptr;
}

}  // namespace

void apply_theme(bool dark, float scale) {
  ImGuiStyle style;  // every value begins as Dear ImGui's own
  if (!dark) ImGui::StyleColorsLight(&style);
  set_colours(style.Colors, dark ? dark_palette : light_palette);
  style.WindowPadding = {10, 10};
  style.FramePadding = {8, 4};
  style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {6, 4};
  style.CellPadding = {4, 2};
  style.ScrollbarSize = 10;
  style.GrabMinSize = 12;
  style.FrameRounding = style.PopupRounding = style.GrabRounding = style.ScrollbarRounding = 4;
  style.WindowRounding = style.ChildRounding = 4;
  style.WindowBorderSize = 0;
  style.ScaleAllSizes(scale);
  ImGui::GetStyle() = style;
}

void load_fonts(float pixels) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  ImFontConfig config;
  const char* const file = first_installed(sans);
  if (!file) {
    constexpr float of_built_in_font = 13;  // it is a bitmap of this height
    config.SizePixels = pixels < 2 * of_built_in_font ? of_built_in_font : 2 * of_built_in_font;
    atlas.AddFontDefault(&config);
    return;
  }
  atlas.AddFontFromFileTTF(file, pixels, &config, european);
  if (const char* const more = first_installed(cjk)) {
    config.MergeMode = true;
    config.OversampleH = config.OversampleV = 1;  // thousands of glyphs
    atlas.AddFontFromFileTTF(more, pixels, &config, asian);
  }
}

}  // namespace facesat::app

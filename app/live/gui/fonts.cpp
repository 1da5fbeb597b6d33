#include "app/live/gui/fonts.hpp"

#include <array>
#include <filesystem>

#include <imgui.h>

namespace facesat::app {
namespace {

// Proportional fonts whose figures all have the same width, so that changing numbers do not move.
constexpr std::array sans{"/usr/share/fonts/truetype/open-sans/OpenSans-Regular.ttf",
                          "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
                          "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"};
constexpr std::array cjk{"/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
                         "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"};

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

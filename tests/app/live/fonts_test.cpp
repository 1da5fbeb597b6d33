// The font of the window. Skipped where no known font is installed.
#include <gtest/gtest.h>
#include <imgui.h>

#include "app/live/gui/looks.hpp"

namespace facesat::app {
namespace {

class Fonts : public ::testing::Test {
 protected:
  Fonts() { ImGui::CreateContext(); }
  ~Fonts() override { ImGui::DestroyContext(); }

  // The font as the window uses it.
  static const ImFont& loaded(float pixels) {
    load_fonts(pixels);
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    EXPECT_TRUE(atlas.Build());
    EXPECT_EQ(atlas.Fonts.Size, 1);  // other alphabets are merged into it
    return *atlas.Fonts[0];
  }
};

TEST_F(Fonts, HaveLatinGreekAndCyrillicLetters) {
  const ImFont& font = loaded(16);
  if (font.FontSize != 16) GTEST_SKIP() << "skipped: none of the known fonts is installed";
  for (const ImWchar letter : {u'A', u'é', u'ß', u'Ő', u'Ω', u'Я', u'ђ', u'–'})
    EXPECT_NE(font.FindGlyphNoFallback(letter), nullptr) << static_cast<int>(letter);
}

TEST_F(Fonts, FiguresHaveOneWidth) {
  const ImFont& font = loaded(16);
  for (ImWchar figure = u'1'; figure <= u'9'; ++figure)
    EXPECT_EQ(font.GetCharAdvance(figure), font.GetCharAdvance(u'0'));
}

TEST_F(Fonts, CanBeLoadedAgainInAnotherSize) {
  loaded(16);
  const ImFont& font = loaded(24);
  EXPECT_GE(font.FontSize, 13);
  EXPECT_GT(font.GetCharAdvance(u'M'), 0);
}

}  // namespace
}  // namespace facesat::app

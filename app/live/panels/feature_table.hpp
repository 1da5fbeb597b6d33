// The numbers of an explained feature, as tables in the panel.
#pragma once

#include <string>

#include <imgui.h>

#include "app/live/detection/feature_view.hpp"

namespace facesat::app {

constexpr ImGuiTableFlags feature_table_flags =
    ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;
// The next cell of a table, with what its number means.
void draw_cell(const std::string& text, const std::string& meaning);

// The rectangles with their sums; a click on one chooses it.
void draw_rectangles(const LevelTables& tables, const Explanation& explanation,
                     FeatureChoice& choice);
// How the chosen rectangle's sum is read from the integral image.
void draw_corner_table(const Explanation& explanation, const FeatureChoice& choice);
// From the sums to the response, and from the responses to what becomes of the window.
void draw_judgement(const LevelTables& tables, const Explanation& explanation,
                    const FeatureChoice& choice);

}  // namespace facesat::app

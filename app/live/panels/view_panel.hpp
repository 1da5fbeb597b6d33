// The panel of what is shown over and around the picture, which no result depends on; and the
// choice of an intermediate picture.
#pragma once

#include "app/live/detection/history.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/gui/picture_view.hpp"
#include "app/live/gui/screen.hpp"
#include "app/live/panels/feature_panel.hpp"

namespace facesat::app {

class ViewPanel {
 public:
  ViewPanel(bool labels, bool dark) : labels_(labels), dark_(dark) {}

  // Returns true if another picture or explanation is to be made. `history`: of the results shown.
  bool draw(LiveSettings& settings, const LiveResult& result, const History& history,
            PictureView& view, Screen& screen);
  // Draws the explanations over the picture, which must have been drawn.
  void draw_over(const PictureView& view, const LiveResult& result);

  bool labels() const { return labels_; }
  void toggle_labels() { labels_ = !labels_; }
  void toggle_dark() { dark_ = !dark_; }
  bool dark() const { return dark_; }
  float opacity() const { return static_cast<float>(opacity_) / 100; }

 private:
  FeatureExplorer explorer_;
  int opacity_ = 100;  // of an intermediate picture over the frame, in percent
  bool labels_, dark_;
};

}  // namespace facesat::app

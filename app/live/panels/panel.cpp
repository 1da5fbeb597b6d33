#include "app/live/panels/panel.hpp"

namespace facesat::app {

Panels make_panels() {
  Panels panels;
#define FACESAT_PANEL(name) panels.push_back(make_##name##_panel());
#include "app/live/panels/panels.def"
#undef FACESAT_PANEL
  return panels;
}

}  // namespace facesat::app

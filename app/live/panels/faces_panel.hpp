// The table of faces, and what saves them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/live/face_export.hpp"
#include "app/live/frames/capture.hpp"
#include "app/live/panels/face_strip.hpp"
#include "app/live/saving.hpp"

namespace facesat::app {

class FacesPanel {
 public:
  // `highlighted`: the index of a face that stands out. Saves through `saving`, and tells its user
  // where.
  PointedFace draw(const LiveResult& result, const Capture::State& state,
                   std::optional<std::size_t> highlighted, Saving& saving, Toasts& toasts);

 private:
  void draw_saving(const LiveResult& result, const Capture::State& state, Saving& saving,
                   Toasts& toasts);
  void draw_list_export(const LiveResult& result, const Capture::State& state, Saving& saving,
                        Toasts& toasts);

  ExportOptions options_;
  std::optional<ListExport> export_;  // while it runs
};

}  // namespace facesat::app

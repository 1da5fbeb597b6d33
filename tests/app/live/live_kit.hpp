// What tests of the window's detection share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/live/detection/detection.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/settings_file.hpp"
#include "tests/kit/eventually.hpp"

namespace facesat::test {

// These cascades, on the CPU.
inline app::LiveSettings cpu_settings(std::vector<std::string> cascades = {"frontalface_default"}) {
  app::LiveSettings settings;
  settings.backend.choice = BackendChoice::cpu;
  settings.cascades = std::move(cascades);
  return settings;
}

// Waits for the next result of the thread.
inline app::LiveResult next_result(app::Detection& detection) {
  std::optional<app::LiveResult> result;
  EXPECT_TRUE(eventually([&] { return (result = detection.take()).has_value(); }));
  return result ? std::move(*result) : app::LiveResult{};
}

// The file of settings, with panels that have nothing of their own.
inline app::Remembered read_settings(const std::filesystem::path& file,
                                     const app::Remembered& otherwise) {
  app::Panels panels = app::make_panels();
  return app::read_settings(file, otherwise, panels);
}
inline void write_settings(const std::filesystem::path& file, const app::Remembered& remembered) {
  app::write_settings(file, remembered, app::make_panels());
}

}  // namespace facesat::test

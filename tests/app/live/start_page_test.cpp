// The page that opens something.
#include "app/live/panels/start_page.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "tests/app/live/panel_test.hpp"
#include "tests/kit/eventually.hpp"

namespace facesat::app {
namespace {

using test::eventually;
using test::PanelTest;

TEST_F(PanelTest, TheStartPageOpensWhatIsTypedAndWhatWasOpenedBefore) {
  StartPage page;
  std::optional<std::vector<std::string>> chosen;
  const std::vector<std::string> recent{"/a/b.png", "/c"};
  const auto draw = [&] {
    if (auto now = page.draw(recent, Capture::State())) chosen = now;
  };
  const std::string inner =
      "start_" + fmt::format("{:08X}", ImHashStr("start", 0, ImHashStr("panel")));
  type("##path", "/x/y.avi", draw, "panel/" + inner);
  EXPECT_EQ(chosen, std::vector<std::string>{"/x/y.avi"});
  press("/c", draw, nullptr, ImGuiActivateFlags_None, "panel/" + inner);
  EXPECT_EQ(chosen, std::vector<std::string>{"/c"});
}

TEST(StartPage, RecentNamesAreWholePathsWithoutRepetition) {
  std::vector<std::string> recent;
  for (const char* name : {"/a", "0", "/b/../a", "rtsp://h/s"}) add_recent(recent, name);
  EXPECT_EQ(recent, (std::vector<std::string>{"rtsp://h/s", "/a", "0"}));
  add_recent(recent, "x.avi");
  EXPECT_EQ(recent.front(), (std::filesystem::current_path() / "x.avi").string());
  for (int i = 0; i < 20; ++i) add_recent(recent, "/n" + std::to_string(i));
  EXPECT_EQ(recent.size(), 8u);
}

TEST_F(PanelTest, PathsAreCompleted) {
  for (const char* name : {"p/apple.png", "p/apricot.avi", "p/apron.txt", "p/.hidden.png"})
    test::write_text(folder / name, "");
  std::filesystem::create_directory(folder / "p/ap below");
  const Completions all = complete_path(path("p/ap"));
  EXPECT_EQ(all.paths, (std::vector<std::string>{path("p/ap below/"), path("p/apple.png"),
                                                 path("p/apricot.avi")}));
  EXPECT_EQ(all.common, path("p/ap"));
  EXPECT_EQ(complete_path(path("p/app")).common, path("p/apple.png"));
  EXPECT_TRUE(complete_path(path("p/x")).paths.empty());
  EXPECT_EQ(complete_path(path("p/")).paths.size(), 3u);  // hidden ones only if asked for
  EXPECT_EQ(complete_path(path("p/.h")).paths.size(), 1u);
  for (int i = 0; i < 20; ++i)
    test::write_text(folder / ("p/many" + std::to_string(i) + ".png"), "");
  EXPECT_EQ(complete_path(path("p/many")).paths.size(), 12u);
  EXPECT_EQ(complete_path(path("p/many")).more, 8u);
  PathCompletion completion;
  completion.ask(path("p/app"));
  EXPECT_TRUE(eventually([&] { return completion.answer() != nullptr; }));
  EXPECT_EQ(completion.answer()->common, path("p/apple.png"));
}

TEST(FileDialogs, CommandsAskForFilesAndFolders) {
  const auto has = [](const char* program, Choosing what, const char* argument) {
    const auto command = dialog_command(program, what);
    return command.front() == program &&
           std::find(command.begin(), command.end(), argument) != command.end();
  };
  EXPECT_TRUE(has("zenity", Choosing::files, "--multiple"));
  EXPECT_TRUE(has("zenity", Choosing::folder, "--directory"));
  EXPECT_TRUE(has("kdialog", Choosing::files, "--getopenfilename"));
  EXPECT_TRUE(has("kdialog", Choosing::folder, "--getexistingdirectory"));
}

// A stand-in for zenity, which writes what is chosen.
TEST_F(PanelTest, TheDialogGivesWhatWasChosen) {
  test::write_text(folder / "bin/zenity", "#!/bin/sh\nprintf '/a b\\n/c\\n'\n");
  std::filesystem::permissions(folder / "bin/zenity", std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  setenv("PATH", (path("bin") + ":" + before).c_str(), 1);
  FileDialog dialog;
  ASSERT_TRUE(dialog.is_available());
  dialog.open(Choosing::files);
  std::optional<std::vector<std::string>> chosen;
  EXPECT_TRUE(eventually([&] { return (chosen = dialog.take()).has_value(); }));
  EXPECT_EQ(chosen, (std::vector<std::string>{"/a b", "/c"}));
  EXPECT_TRUE(eventually([&] { return !dialog.is_open(); }));
  test::write_text(folder / "bin/zenity", "#!/bin/sh\nexec sleep 1000\n");
  dialog.open(Choosing::files);  // ends with its object
  setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace facesat::app

// What the window says about the files that it writes, without a window.
#include "app/live/saving.hpp"

#include "support/errors.hpp"
#include "tests/kit/program.hpp"

namespace facesat::app {
namespace {

class SavingTest : public test::ProgramTest {
 protected:
  std::string said() { return toasts.shown(Toasts::Clock::now()).back().text; }

  Outputs outputs{{"--screenshot", ""}, {"--times", ""}, {"--record", ""}, {}};
  Detection detection{LiveSettings()};
  Toasts toasts;
  Saving saving{"", outputs, detection, toasts};
};

TEST_F(SavingTest, FilesAreNamedWithTheirFullPath) {
  saving.attempt([] { return "shot.png"; });
  EXPECT_EQ(said(), "saved: " + (std::filesystem::current_path() / "shot.png").string());
  saving.attempt([&] { return path("p/../shot.png"); });
  EXPECT_EQ(said(), "saved: " + path("shot.png"));
  EXPECT_TRUE(saving.failures().empty());
}

TEST_F(SavingTest, TimesAreInANewFileThatIsNamed) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  saving.save_times(History());
  std::filesystem::current_path(before);
  ASSERT_EQ(files_below(".").size(), 1u);
  EXPECT_EQ(said(), "saved: " + path(files_below(".").front()));
}

TEST_F(SavingTest, EveryFailureIsKept) {
  saving.attempt([]() -> std::string { throw OutputError("a.png: No space left on device"); });
  EXPECT_EQ(said(), "a.png: No space left on device");
  saving.attempt([] { return "b.csv"; });
  saving.write_times(path("no/such/t.csv"), {});
  ASSERT_EQ(saving.failures().size(), 2u);
  EXPECT_EQ(saving.failures()[0], "a.png: No space left on device");
  EXPECT_NE(saving.failures()[1].find(path("no/such/t.csv")), std::string::npos);
}

}  // namespace
}  // namespace facesat::app

// Acts on a program's window as a desktop does, over the X protocol, because there is no window
// manager on the tests' display.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace facesat::test {

class Desktop {
 public:
  // Waits until the display has a visible window of this class or with this title; is_there() says
  // whether one appeared.
  Desktop(const std::string& display, const std::string& window);
  ~Desktop();
  Desktop(const Desktop&) = delete;
  Desktop& operator=(const Desktop&) = delete;

  bool is_there() const;
  std::string title() const;
  Rect place() const;  // on the display
  void place(const Rect& there);
  void resize(Size size);
  void minimise();
  void restore();
  void close();  // as the close button of a title bar does
  // Drops files onto the window, all at once. True: the window accepted them.
  bool drop(const std::vector<std::string>& files);
  bool drop(const std::string& file) { return drop(std::vector{file}); }

  // The number of the window's pixels that have this colour now.
  int count(Bgr colour) const;
  // Waits until the window has this title. False: as for shows().
  bool is_titled(const std::string& title) const;
  // Waits until at least `pixels` pixels have this colour. False: they did not within `patience`.
  bool shows(Bgr colour, int pixels) const;

 private:
  struct Connection;
  std::unique_ptr<Connection> x_;
};

}  // namespace facesat::test

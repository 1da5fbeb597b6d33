// Acts on a program's window as a desktop does, over the X protocol, because there is no window
// manager on the tests' display.
#pragma once

#include <memory>
#include <string>

#include "core/image.hpp"

namespace facesat::test {

class Desktop {
 public:
  // Waits until the display has a visible window titled `title`; is_there() says whether one
  // appeared.
  Desktop(const std::string& display, const std::string& title);
  ~Desktop();
  Desktop(const Desktop&) = delete;
  Desktop& operator=(const Desktop&) = delete;

  bool is_there() const;
  void resize(Size size);
  void minimise();
  void restore();
  void close();  // as the close button of a title bar does
  // Drops a file onto the window. True: the window accepted it.
  bool drop(const std::string& file);

  // The number of the window's pixels that have this colour now.
  int count(Bgr colour) const;
  // Waits until at least `pixels` pixels have this colour. False: they did not within `patience`.
  bool shows(Bgr colour, int pixels) const;

 private:
  struct Connection;
  std::unique_ptr<Connection> x_;
};

}  // namespace facesat::test

// What a desktop does to a program's window, over the X protocol: there is no window manager on the
// tests' display, so this is one.
#pragma once

#include <memory>
#include <string>

#include "core/image.hpp"

namespace facesat::test {

class Desktop {
 public:
  // Waits for a window of that title; is_there() tells whether one came.
  Desktop(const std::string& display, const std::string& title);
  ~Desktop();
  Desktop(const Desktop&) = delete;
  Desktop& operator=(const Desktop&) = delete;

  bool is_there() const;
  void resize(Size size);
  void minimise();
  void restore();
  void close();  // as its cross does
  // Drags a file onto it and lets go. True: the window took it.
  bool drop(const std::string& file);

  // How many pixels of the window have this colour now.
  int count(Bgr colour) const;
  // Waits until at least that many have it; false: that never was.
  bool shows(Bgr colour, int pixels) const;

 private:
  struct Connection;
  std::unique_ptr<Connection> x_;
};

}  // namespace facesat::test

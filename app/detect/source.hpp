// inputs -> items: pictures as paths, films frame by frame.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/detect/item.hpp"
#include "app/io/annotate.hpp"
#include "app/io/inputs.hpp"
#include "app/io/result_file.hpp"
#include "app/io/video.hpp"

namespace facesat::app {

// Used by one thread at a time.
class Source {
 public:
  // writes_pictures: items get names for the pictures that are written about them.
  Source(Inputs inputs, EarlierResults earlier, bool writes_pictures);

  std::optional<Item> next();

 private:
  std::optional<Item> next_input();
  std::optional<Item> next_frame();
  Item failed(const std::string& kind, const std::string& message);
  Item named(Item item, std::optional<int> frame);

  Inputs inputs_;
  EarlierResults earlier_;
  bool writes_pictures_;
  PictureNames names_;
  Input input_;
  bool more_ = true;
  std::unique_ptr<Video> film_;
  std::optional<Frame> upcoming_;  // one frame is read ahead, so that the last one is known as such
  int frame_ = 0;
};

}  // namespace facesat::app

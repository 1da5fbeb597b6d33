// Makes items (item.hpp) from inputs: one for a picture, with its path, and one for each frame of a
// video, with its pixels; one for many inputs that earlier runs have completed.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <unordered_set>

#include "app/detect/item.hpp"
#include "media/frame_source.hpp"
#include "results/inputs.hpp"
#include "results/journal.hpp"
#include "results/picture_names.hpp"
#include "results/shard.hpp"

namespace facesat::app {

// To be used by one thread at a time.
class ItemReader {
 public:
  // names_pictures: items get names for the annotated pictures and crops made from them. Of videos,
  // `frames` are read; if such a choice was made, of animations, too.
  ItemReader(Inputs inputs, const Shard& shard, Journal& journal, bool names_pictures,
             std::size_t max_pixels, const FrameChoice& frames);

  // The next item; nullopt at the end.
  std::optional<Item> next();

  // Would there have been no more items? For after the last call of next(), because it reads on.
  // May wait, and be interrupted, as Inputs::is_empty().
  bool is_done() { return !video_ && !next_of_shard() && inputs_.is_empty(); }

  const Inputs::Skipped& skipped() const { return inputs_.skipped(); }
  // The number of inputs with the same name in the results as an earlier input.
  std::size_t namesakes() const { return namesakes_; }
  // The number of inputs whose names are not UTF-8.
  std::size_t not_utf8() const { return not_utf8_; }

 private:
  std::optional<Input> next_of_shard();
  Item earlier_inputs();  // one item for those that were passed over
  // nullopt if the next input is a video or live source, which is now open, if it is passed over
  // because an earlier run has completed it, or if there are no more inputs.
  std::optional<Item> next_input();
  std::optional<Item> next_frame();       // of the open video
  std::optional<Item> next_live_frame();  // of the open camera or stream; nullopt after its end
  Item item_of(Frame frame) const;        // of the current input
  Item item() const;                      // for the current input, not yet processed
  // For the current input, with a failure as its result.
  Item failed(const std::string& kind, const std::string& message) const;

  Inputs inputs_;
  Shard shard_;
  Journal& journal_;
  bool names_pictures_;
  std::size_t max_pixels_;
  FrameChoice frames_;
  PictureNames names_;
  // Hashes of names, in memory of their own, as in Journal.
  std::pmr::monotonic_buffer_resource memory_{1 << 20};
  std::pmr::unordered_set<std::uint64_t> seen_{&memory_};
  std::size_t namesakes_ = 0, not_utf8_ = 0;
  // The current input.
  Input input_;
  Journal::InputEntry place_;
  std::string picture_name_;
  bool more_ = true;                // false after the last input
  std::size_t earlier_inputs_ = 0;  // passed over since the last item for them
  std::unique_ptr<FrameSource> video_;
  // Of a video, one frame is read ahead, to recognise the last frame.
  std::optional<Frame> upcoming_;
};

}  // namespace facesat::app

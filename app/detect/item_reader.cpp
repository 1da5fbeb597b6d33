#include "app/detect/item_reader.hpp"

#include <utility>

#include "media/frame_source.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

bool is_animation_file(const Input& input) {
  if (input.kind != Input::Kind::picture || input.member || input.bytes) return false;
  try {
    return is_animation(input.path);
  } catch (const InputError&) {  // it is reported when it is read as a picture
    return false;
  }
}

}  // namespace

ItemReader::ItemReader(Inputs inputs, const Shard& shard, Journal& journal, bool names_pictures,
                       std::size_t max_pixels, const FrameChoice& frames)
    : inputs_(std::move(inputs)),
      shard_(shard),
      journal_(journal),
      names_pictures_(names_pictures),
      max_pixels_(max_pixels),
      frames_(frames) {
  inputs_.on_folder([&journal](const auto& folder, const InputVersion& version) {
    journal.enter_folder(folder, version);
  });
}

std::optional<Item> ItemReader::next() {
  while (true) {
    std::optional<Item> item = !video_                            ? next_input()
                               : input_.kind == Input::Kind::live ? next_live_frame()
                                                                  : next_frame();
    if (item) return item;
    const bool is_end = !video_ && !more_;
    constexpr std::size_t many = 1000;
    if (earlier_inputs_ >= (is_end ? 1 : many)) return earlier_inputs();
    if (is_end) return std::nullopt;
  }
}

// The inputs of other shards get names for their pictures, too: names depend on earlier ones, and a
// picture's is the same whatever the number of shards.
std::optional<Input> ItemReader::next_of_shard() {
  while (std::optional<Input> input = inputs_.next()) {
    const bool is_ours = shard_.has(input->name);
    if (frames_.is_made() && (is_ours || names_pictures_) && is_animation_file(*input))
      input->kind = Input::Kind::video;
    if (names_pictures_)
      picture_name_ = names_.add(
          input->name, input->kind == Input::Kind::video || input->kind == Input::Kind::live);
    if (is_ours) return input;
    if (interrupted()) break;
  }
  return std::nullopt;
}

std::optional<Item> ItemReader::next_input() {
  std::optional<Input> input = next_of_shard();
  more_ = input.has_value();
  if (!input) return std::nullopt;
  input_ = std::move(*input);
  place_ = journal_.enter(input_.path, input_.name, input_.member ? input_.member->name : "",
                          input_.version);
  namesakes_ += !seen_.insert(name_hash(input_.name)).second;
  not_utf8_ += !is_utf8(input_.name);
  if (place_.earlier.complete) {
    ++earlier_inputs_;
    return std::nullopt;
  }
  if (input_.kind == Input::Kind::failure) return failed("read", input_.failure);
  if (input_.kind == Input::Kind::picture) return item();
  try {
    if (input_.kind == Input::Kind::live) {
      video_ = open_live(input_.address, frames_, max_pixels_);
      return std::nullopt;
    }
    video_ = open_video(input_.path, max_pixels_);
    video_->choose(frames_);
    upcoming_ = video_->next();
    if (!upcoming_) throw InputError("decode", "this video has no frame that can be decoded");
  } catch (const InputError& error) {
    video_.reset();
    return failed(error.kind, error.what());
  }
  return std::nullopt;
}

std::optional<Item> ItemReader::next_frame() {
  Item next = item_of(std::move(*upcoming_));
  next.video_name = picture_name_;
  next.frame_seconds = video_->step();
  upcoming_ = video_->next();
  if (!upcoming_) {
    next.frame->warning = video_->warning();
    video_.reset();
  }
  next.last_of_input = !upcoming_;
  return next;
}

// Nothing is read ahead: the next frame is to be the newest one when its turn comes.
std::optional<Item> ItemReader::next_live_frame() {
  try {
    if (std::optional<Frame> frame = video_->next()) {
      Item next = item_of(std::move(*frame));
      next.last_of_input = false;
      return next;
    }
    const std::string warning = interrupted() ? "" : video_->warning();
    video_.reset();
    if (!warning.empty()) return failed("decode", warning);
  } catch (const InputError& error) {
    video_.reset();
    return failed(error.kind, error.what());
  }
  return std::nullopt;
}

Item ItemReader::item_of(Frame frame) const {
  Item next = item();
  next.record.time = frame.time;
  next.record.frame = frame.number;
  next.frame = std::move(frame.picture);
  next.earlier = frame.number < place_.earlier.records;
  if (names_pictures_) next.picture_name = PictureNames::of_frame(picture_name_, frame.number);
  return next;
}

Item ItemReader::earlier_inputs() {
  Item all;
  all.earlier = true;
  all.earlier_inputs = std::exchange(earlier_inputs_, 0);
  return all;
}

Item ItemReader::item() const {
  Item item;
  item.place = place_;
  item.path = input_.path;
  if (input_.member) {
    item.path += "/" + input_.member->name;
    item.read_bytes = input_.member->read;
  }
  if (input_.bytes) item.read_bytes = [bytes = input_.bytes] { return *bytes; };
  item.record.image = input_.name;
  item.picture_name = picture_name_;
  return item;
}

Item ItemReader::failed(const std::string& kind, const std::string& message) const {
  Item failure = item();
  failure.record.failure = Failure{kind, message};
  return failure;
}

}  // namespace facesat::app

#include "app/detect/item_reader.hpp"

#include <utility>

#include "library/support/errors.hpp"
#include "library/support/interrupt.hpp"
#include "library/support/printable.hpp"

namespace facesat::app {

ItemReader::ItemReader(Inputs inputs, const Shard& shard, Journal& journal, bool names_pictures,
                       std::size_t max_pixels)
    : inputs_(std::move(inputs)),
      shard_(shard),
      journal_(journal),
      names_pictures_(names_pictures),
      max_pixels_(max_pixels) {
  inputs_.on_folder([&journal](const auto& folder, const InputVersion& version) {
    journal.enter_folder(folder, version);
  });
}

std::optional<Item> ItemReader::next() {
  while (true) {
    std::optional<Item> item = video_ ? next_frame() : next_input();
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
    if (names_pictures_) picture_name_ = names_.add(input->name, input->kind == Input::Kind::video);
    if (shard_.has(input->name)) return input;
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
  const bool is_video = input_.kind == Input::Kind::video;
  if (place_.earlier.complete) {
    ++earlier_inputs_;
    return std::nullopt;
  }
  if (input_.kind == Input::Kind::failure) return failed("read", input_.failure);
  if (!is_video) return item();
  try {
    video_ = open_video(input_.path, max_pixels_);
    frame_ = 0;
    upcoming_ = video_->next();
    if (!upcoming_) throw InputError("decode", "this video has no frame that can be decoded");
  } catch (const InputError& error) {
    video_.reset();
    return failed(error.kind, error.what());
  }
  return std::nullopt;
}

std::optional<Item> ItemReader::next_frame() {
  Item next = item();
  next.frame = std::move(upcoming_->picture);
  next.record.time = upcoming_->time;
  next.record.frame = frame_;
  next.earlier = frame_ < place_.earlier.records;
  if (names_pictures_) next.picture_name = PictureNames::of_frame(picture_name_, frame_);
  ++frame_;
  upcoming_ = video_->next();
  if (!upcoming_) {
    next.frame->warning = video_->warning();
    video_.reset();
  }
  next.last_of_input = !upcoming_;
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

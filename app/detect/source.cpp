#include "app/detect/source.hpp"

#include <utility>

#include "app/errors.hpp"

namespace facesat::app {

Source::Source(Inputs inputs, EarlierResults earlier, bool writes_pictures)
    : inputs_(std::move(inputs)), earlier_(std::move(earlier)), writes_pictures_(writes_pictures) {}

std::optional<Item> Source::next() {
  while (true) {
    std::optional<Item> item = film_ ? next_frame() : next_input();
    if (item || !(film_ || more_)) return item;
  }
}

std::optional<Item> Source::next_input() {
  std::optional<Input> input = inputs_.next();
  more_ = input.has_value();
  if (!input) return std::nullopt;
  input_ = std::move(*input);
  if (input_.kind == Input::Kind::failure) return failed("read", input_.failure);
  if (input_.kind == Input::Kind::picture) return named({}, std::nullopt);
  try {
    film_ = open_video(input_.path);
    frame_ = 0;
    upcoming_ = film_->next();
    if (!upcoming_) throw InputError("decode", "this film has no frame that can be decoded");
  } catch (const InputError& error) {
    film_.reset();
    return failed(error.kind, error.what());
  }
  return std::nullopt;
}

std::optional<Item> Source::next_frame() {
  Item item;
  item.frame = std::move(upcoming_->picture);
  item.record.time = upcoming_->time;
  upcoming_ = film_->next();
  item.last_of_input = !upcoming_;
  if (!upcoming_) film_.reset();
  return named(std::move(item), frame_++);
}

Item Source::failed(const std::string& kind, const std::string& message) {
  Item item = named({}, std::nullopt);
  item.record.failure = Failure{kind, message};
  return item;
}

Item Source::named(Item item, std::optional<int> frame) {
  item.path = input_.path;
  item.record.image = input_.name;
  item.record.frame = frame;
  if (writes_pictures_) item.picture_name = names_.add(input_.name, frame);
  try {
    item.earlier = earlier_.take(input_.name, frame);
  } catch (const InputError& error) {
    item.record.failure = Failure{error.kind, error.what()};
  }
  return item;
}

}  // namespace facesat::app

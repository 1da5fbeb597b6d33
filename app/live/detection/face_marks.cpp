#include "app/live/detection/face_marks.hpp"

#include <algorithm>

namespace facesat::app {

void FaceMarks::add(const Subject& subject, std::size_t index, bool has_faces) {
  if (subject != subject_) {
    subject_ = subject;
    marks_.assign(std::min(subject.count, most), Mark::unknown);
  }
  if (subject.count == 0) return;
  const std::size_t last = subject.count - 1;
  Mark& mark = marks_[std::min(index, last) * marks_.size() / subject.count];
  const bool is_shared = subject.count > marks_.size();
  if (has_faces)
    mark = Mark::faces;
  else if (!is_shared || mark == Mark::unknown)
    mark = Mark::none;
}

}  // namespace facesat::app

// The pictures of an evaluation: those that are annotated, and those that have no objects.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/evaluate/evaluate.hpp"
#include "datasets/annotations.hpp"
#include "media/input_file.hpp"

namespace facesat::app {

struct TestPicture {
  training::AnnotatedPicture annotated;
  // Reads the bytes of a picture in an archive; else empty.
  std::function<std::vector<unsigned char>()> read;

  // Throws InputError.
  InputFile open() const { return read ? InputFile(read()) : InputFile(annotated.file); }
};

// The annotated pictures in their order, then, of all pictures below the folders, those that are
// not annotated. Calls say() with what was left out. Throws UsageError for annotations and folders
// that cannot be read, and if no object counts.
std::vector<TestPicture> find_pictures(const EvaluateCommand& command,
                                       const std::function<void(const std::string&)>& say);

}  // namespace facesat::app

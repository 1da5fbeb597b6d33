// Processes an item: makes the record of its picture, and the pictures that are written.
#pragma once

#include "app/detect/item.hpp"
#include "app/detect/output_set.hpp"

namespace facesat::app {

// Failures of the input become part of the record; failures that end the run become Item::error.
void process(Item& item, const Detector& detector, const DetectCommand& command,
             const OutputSet& outputs);

}  // namespace facesat::app

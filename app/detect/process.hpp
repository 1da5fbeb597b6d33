// An item's picture is decoded, faces are found, pictures with boxes and crops are written.
#pragma once

#include "app/detect/item.hpp"
#include "app/detect/options.hpp"
#include "app/detect/workers.hpp"

namespace facesat::app {

// Failures of the input become part of the record; those of writing pictures, Item::output_error.
void process(Item& item, Workers& workers, const DetectCommand& command);

}  // namespace facesat::app

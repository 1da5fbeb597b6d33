// What is read must not be written by the same run.
#pragma once

#include "app/detect/options.hpp"
#include "app/detect/process.hpp"

namespace facesat::app {

// Throws UsageError if a picture with boxes would take the place of an input on the command line.
// What lists and folders name is looked at when the picture is written.
void require_inputs_untouched(const DetectCommand& command, const PictureFolders& folders);

// Throws UsageError if results or messages would go into a list of inputs, or standard output into
// an input or a cascade that the command line names, or messages into the file of results.
void require_lists_untouched(const DetectCommand& command);

// Inputs that are named on the command line or in a list that is a file are not replaced by the
// picture of another one.
void protect_inputs(const DetectCommand& command, PictureFolders& folders);

// Is there none of the inputs, as far as that can be known beforehand?
bool are_all_missing(const DetectCommand& command);

}  // namespace facesat::app

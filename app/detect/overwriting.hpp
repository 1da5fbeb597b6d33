// Checks that a run does not write to files that it reads.
#pragma once

#include "app/detect/options.hpp"
#include "app/detect/process.hpp"

namespace facesat::app {

// Throws UsageError if an annotated picture, or a picture or video with blurred faces, would
// overwrite an input named on the command line. Inputs from lists and folders are checked when the
// picture is written.
void require_inputs_untouched(const DetectCommand& command, const PictureFolders& folders);

// Throws UsageError if annotated pictures could overwrite those with blurred faces, or the reverse:
// they have the same names. The folders must exist.
void require_folders_apart(const DetectCommand& command);

// Throws UsageError if results or messages would go into a list of inputs, if results would go into
// an input, if standard output would go into a cascade or into any picture or video, or if messages
// would go into the results file.
void require_lists_untouched(const DetectCommand& command);

// Makes sure that no picture written by this run replaces an input named on the command line, or in
// a list that is a file.
void protect_inputs(const DetectCommand& command, PictureFolders& folders);

// Do none of the inputs exist, as far as that can be known in advance? Paths from standard input or
// a pipe are not known yet.
bool are_all_missing(const DetectCommand& command);

}  // namespace facesat::app

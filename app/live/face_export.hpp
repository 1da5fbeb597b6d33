// Saves faces as `facesat detect` does: a table, a picture of each face, pictures with boxes.
#pragma once

#include <string>
#include <vector>

#include "app/live/detection/live_result.hpp"
#include "app/live/outputs.hpp"
#include "app/live/own_process.hpp"
#include "results/format.hpp"

namespace facesat::app {

struct ExportOptions {
  const Format* format = &csv_format();
  bool crops = true;   // one picture per face
  bool boxes = false;  // the picture with boxes around its faces
  std::string folder;  // in which a new one is made; empty: the current one
};

// Writes the faces of this result into a new folder, and returns its path.
// Throws OutputError.
std::string export_faces(const LiveResult& result, const ExportOptions& options);

// The arguments of `facesat` that write the faces in all these sources into `folder`, with the
// settings of the window.
std::vector<std::string> export_arguments(const std::vector<std::string>& sources,
                                          const LiveSettings& settings, const std::string& folder,
                                          const ExportOptions& options);

// Why the faces of these sources cannot be saved that way; empty if they can.
std::string why_not_exportable(const std::vector<std::string>& sources,
                               const LiveSettings& settings);

// Writes the faces of all pictures and of all frames of all videos of a list, in a process of its
// own.
class ListExport {
 public:
  // `program`: facesat. Throws OutputError.
  ListExport(const std::string& program, const std::vector<std::string>& sources,
             const LiveSettings& settings, const ExportOptions& options)
      : folder_(make_dated_folder(options.folder, "faces")),
        process_(program, export_arguments(sources, settings, folder_, options)) {}

  const std::string& folder() const { return folder_; }
  OwnProcess& process() { return process_; }  // its lines say how many pictures are done

 private:
  const std::string folder_;
  OwnProcess process_;
};

}  // namespace facesat::app

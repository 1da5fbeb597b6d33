// Saves faces as `facesat detect` does: a table, a picture of each face, pictures with boxes.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/common/child_process.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/threads.hpp"
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
  // `program`: facesat, by default this very program. Throws OutputError.
  ListExport(const std::vector<std::string>& sources, const LiveSettings& settings,
             const ExportOptions& options, const std::string& program = "/proc/self/exe");

  const std::string& folder() const { return folder_; }
  std::string progress() const;  // the newest line, such as how many pictures are done
  void stop() const { process_->stop(); }
  // Once, after the end: an empty text if all went well, else what went wrong.
  std::optional<std::string> take_end() { return end_.take(); }

 private:
  const std::string folder_;
  mutable std::mutex mutex_;
  std::string line_;
  Mailbox<std::string> end_;
  std::optional<ChildProcess> process_;  // last: it uses all of the above
};

}  // namespace facesat::app

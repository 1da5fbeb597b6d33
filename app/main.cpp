#include <malloc.h>
#include <unistd.h>

#include "app/program.hpp"
#include "facesat.hpp"
#include "media/frame_source.hpp"

namespace {

// Files and pictures take megabytes, for moments. They are kept for the next ones: for large
// frames, new pages from the system cost more time than decoding, and threads wait for each other
// there.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  const int status = facesat::app::run_program(argc, argv);
  if (!facesat::Detector::is_starting() && !facesat::is_live_source_open()) return status;
  std::fflush(nullptr);
  ::_exit(status);
}

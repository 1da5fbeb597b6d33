#include "cascades/cascade_store.hpp"

// Copies the XML of the default cascade, FACESAT_EMBEDDED_FILE of the build, into the program.
asm(R"(
  .section .rodata
  .balign 16
facesat_embedded_begin:
  .incbin ")" FACESAT_EMBEDDED_FILE R"("
facesat_embedded_end:
  .previous
)");

extern "C" const char facesat_embedded_begin[], facesat_embedded_end[];

namespace facesat {

std::string_view embedded_cascade() {
  return {facesat_embedded_begin,
          static_cast<std::size_t>(facesat_embedded_end - facesat_embedded_begin)};
}

}  // namespace facesat

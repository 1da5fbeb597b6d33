#pragma once

namespace facesat::gpu {

// Whether this build contains code that the current device can run.
bool has_code();

}  // namespace facesat::gpu

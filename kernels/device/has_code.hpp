#pragma once

namespace facesat::gpu {

// Does this build hold code that the current device can run?
bool has_code();

}  // namespace facesat::gpu

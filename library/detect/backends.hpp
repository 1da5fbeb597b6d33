// Chooses the backends that detection runs on, from what the user wants and this machine has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "library/facesat.hpp"

namespace facesat {

// The choice of backend. A place is where a backend can run: there is one for each chosen CUDA
// device, or a single one for the CPU. Places are numbered from 0.
class Backends {
 public:
  // Throws BackendError if what the options demand is not available, or cannot evaluate the
  // cascades.
  Backends(const BackendOptions& options,
           const std::vector<std::shared_ptr<const Cascade>>& cascades);

  bool on_gpu() const { return !devices_.empty(); }
  int places() const { return on_gpu() ? static_cast<int>(devices_.size()) : 1; }
  // May the CPU take over when a device fails?
  bool may_fall_back() const { return on_gpu() && choice_ == BackendChoice::automatic; }

  // A sentence on which backend was chosen, if the choice was left to the library; else empty.
  const std::string& remark() const { return remark_; }

  // "CPU", or the name of the device (the first, if there are several).
  const std::string& device_name() const { return device_name_; }

  // The SAT algorithm used on devices, as BackendOptions names it; empty on the CPU.
  std::string sat() const;

  // Makes a new backend at this place.
  std::unique_ptr<Backend> make(int place) const;

  int device(int place) const { return devices_[static_cast<std::size_t>(place)]; }  // if on_gpu()

 private:
  std::string why_no_gpu(const BackendOptions& options,
                         const std::vector<std::shared_ptr<const Cascade>>& cascades);

  BackendChoice choice_;
  std::vector<int> devices_;  // empty: the CPU
  std::string sat_;
  std::string device_name_ = "CPU";
  std::string remark_;
};

}  // namespace facesat

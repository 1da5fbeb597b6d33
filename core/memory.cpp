#include "core/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "facesat/types.hpp"

namespace facesat {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// Linux's estimate of the bytes that can be used without swapping ("MemAvailable", in KiB).
std::uint64_t system_available() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key, unit;
  for (std::uint64_t kib = 0; meminfo >> key >> kib; std::getline(meminfo, unit))
    if (key == "MemAvailable:") return kib * 1024;
  return unlimited;
}

// Bytes that a container's memory limit leaves (control groups, version 2).
std::uint64_t cgroup_available() {
  std::uint64_t limit = 0, used = 0;
  if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> limit)) return unlimited;
  if (!(std::ifstream("/sys/fs/cgroup/memory.current") >> used)) return unlimited;
  return limit > used ? limit - used : 0;
}

// Bytes of address space that `ulimit -v` leaves.
std::uint64_t address_space_available() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::uint64_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

std::string shortage(const std::string& what_for, std::uint64_t bytes) {
  if (bytes == 0) return what_for + " needs more memory than is available";
  constexpr std::uint64_t gib = 1ull << 30;
  const bool is_below = bytes < gib;
  return fmt::format("{} needs {} bytes of memory ({:.1f} {}), more than is available", what_for,
                     bytes, static_cast<double>(bytes) / (is_below ? gib >> 10 : gib),
                     is_below ? "MiB" : "GiB");
}

}  // namespace

MemoryError::MemoryError(const std::string& what_for, std::uint64_t bytes_needed)
    : Error(shortage(what_for, bytes_needed)), bytes(bytes_needed) {}

std::uint64_t available_memory() {
  return std::min({system_available(), cgroup_available(), address_space_available()});
}

void require_memory(std::uint64_t bytes, const char* what_for) {
  if (bytes > available_memory()) throw MemoryError(what_for, bytes);
}

}  // namespace facesat

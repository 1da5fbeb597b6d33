// Makes tar archives for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace facesat::test {

enum class TarFormat { ustar, pax, gnu };

struct TarMember {
  enum class Kind { file, folder, symbolic_link, hard_link, pipe, device };
  std::string name, bytes;  // bytes: of a link, where it leads
  Kind kind = Kind::file;
};

void write_tar(const std::filesystem::path& file, const std::vector<TarMember>& members,
               TarFormat format = TarFormat::pax);

// One block of 512 bytes: the header of a member, of the kind that `type` says ('0': a file).
std::string tar_header(const std::string& name, std::uint64_t size, char type = '0');

// The files below a folder as members, in name order.
std::vector<TarMember> members_of_folder(const std::filesystem::path& folder);

}  // namespace facesat::test

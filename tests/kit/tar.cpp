#include "tests/kit/tar.hpp"

#include <algorithm>
#include <clocale>
#include <memory>
#include <stdexcept>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "tests/kit/program.hpp"

namespace facesat::test {

namespace fs = std::filesystem;

namespace {

// Names in pax archives are UTF-8, and libarchive converts them from the current locale.
struct Utf8Locale {
  Utf8Locale() { std::setlocale(LC_CTYPE, "C.UTF-8"); }
  ~Utf8Locale() { std::setlocale(LC_CTYPE, "C"); }
};

unsigned type_of(TarMember::Kind kind) {
  using Kind = TarMember::Kind;
  switch (kind) {
    case Kind::folder:
      return AE_IFDIR;
    case Kind::symbolic_link:
      return AE_IFLNK;
    case Kind::pipe:
      return AE_IFIFO;
    case Kind::device:
      return AE_IFCHR;
    case Kind::file:
    case Kind::hard_link:
      break;
  }
  return AE_IFREG;
}

}  // namespace

void write_tar(const fs::path& file, const std::vector<TarMember>& members, TarFormat format) {
  const Utf8Locale locale;
  fs::create_directories(file.parent_path());
  const std::unique_ptr<::archive, decltype(&::archive_write_free)> tar(::archive_write_new(),
                                                                        ::archive_write_free);
  const auto check = [&](la_ssize_t status) {
    if (status < 0) throw std::runtime_error(::archive_error_string(tar.get()));
  };
  check(format == TarFormat::ustar ? ::archive_write_set_format_ustar(tar.get())
        : format == TarFormat::pax ? ::archive_write_set_format_pax(tar.get())
                                   : ::archive_write_set_format_gnutar(tar.get()));
  check(::archive_write_open_filename(tar.get(), file.c_str()));
  using Kind = TarMember::Kind;
  for (const TarMember& member : members) {
    const std::unique_ptr<::archive_entry, decltype(&::archive_entry_free)> entry(
        ::archive_entry_new(), ::archive_entry_free);
    const bool is_file = member.kind == Kind::file;
    ::archive_entry_set_pathname(entry.get(), member.name.c_str());
    ::archive_entry_set_perm(entry.get(), 0644);
    ::archive_entry_set_filetype(entry.get(), type_of(member.kind));
    if (member.kind == Kind::symbolic_link)
      ::archive_entry_set_symlink(entry.get(), member.bytes.c_str());
    if (member.kind == Kind::hard_link)
      ::archive_entry_set_hardlink(entry.get(), member.bytes.c_str());
    ::archive_entry_set_size(entry.get(),
                             is_file ? static_cast<la_int64_t>(member.bytes.size()) : 0);
    check(::archive_write_header(tar.get(), entry.get()));
    if (is_file) check(::archive_write_data(tar.get(), member.bytes.data(), member.bytes.size()));
  }
  check(::archive_write_close(tar.get()));
}

std::string tar_header(const std::string& name, std::uint64_t size, char type) {
  std::string header = name + std::string(512 - name.size(), '\0');
  const auto set = [&](std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  set(100, "0000644");
  set(124, fmt::format("{:011o} ", size));
  set(148, std::string(8, ' '));
  set(156, std::string(1, type));
  set(257, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  set(148, fmt::format("{:06o}", sum) + '\0');
  return header;
}

std::vector<TarMember> members_of_folder(const fs::path& folder) {
  std::vector<TarMember> members;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      members.push_back({fs::relative(entry.path(), folder).string(), read_text(entry.path())});
  std::sort(members.begin(), members.end(),
            [](const TarMember& a, const TarMember& b) { return a.name < b.name; });
  return members;
}

}  // namespace facesat::test

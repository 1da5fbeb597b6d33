// Files whose failures are told apart and told in words.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace facesat::app {

// Is the file's extension one of these (in lower case, with the dot)?
bool has_extension(const std::filesystem::path& file,
                   const std::vector<std::string_view>& extensions);

// Throws InputError("read") with the reason, unless `file` is a regular, readable, non-empty file.
void require_readable(const std::filesystem::path& file);

// The bytes of a regular file, or as many of them as can be read.
std::vector<unsigned char> read_file(const std::filesystem::path& file);

// Throws UsageError with the reason, unless `file` is one that can be written or can be made: asked
// before work that would be lost otherwise.
void require_writable(const std::filesystem::path& file);

// Write a whole file. Throw OutputError with the reason; a partial file is removed.
void write_file(const std::filesystem::path& file, std::span<const unsigned char> bytes);
void write_text(const std::filesystem::path& file, std::string_view text);

// Makes a folder and its parents. Throws OutputError.
void make_folder(const std::filesystem::path& folder);

// Writes all bytes. Throws ClosedPipe or OutputError("<name>: <reason>").
void write_all(int descriptor, std::string_view bytes, const std::string& name);

}  // namespace facesat::app

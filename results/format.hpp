// The formats of results: how records become text, and how that text is recognised. Only what is
// recognised may be overwritten or completed. A format is one file with an object of this class,
// and a line in formats().
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "results/results.hpp"

namespace facesat {

struct JournalFile;

struct FormatTraits {
  std::string_view name;         // on the command line, and the extension of files
  std::string_view title;        // in the window
  std::string_view description;  // what a record becomes
  std::string_view beginning;    // of every file in this format
  // Do records tell what failed, and warnings? Otherwise only messages do.
  bool tells_failures;
  bool is_utf8;  // bytes of names that are not UTF-8 become U+FFFD
};

class Format : public FormatTraits {
 public:
  virtual ~Format() = default;
  virtual std::string header(const Layout& layout) const = 0;  // what a file begins with
  virtual std::string to_text(const Record& record, const Layout& layout) const = 0;

  // Does the stream hold nothing but results in this format?
  virtual bool holds_only_results(std::istream& in) const = 0;
  // Is `text`, the end of a file, what a killed run may leave of a record?
  virtual bool is_torn(std::string_view text, const Layout& layout) const = 0;
  // Reconstructs the journal of an output that has none, from its records; an unfinished last
  // record is ignored. Throws UsageError if the file holds anything else, or cannot be completed
  // without a journal. `shown_name`: of the file, in messages.
  virtual JournalFile journal_of(const std::filesystem::path& file, const std::string& shown_name,
                                 const Layout& layout) const = 0;

 protected:
  explicit Format(const FormatTraits& traits) : FormatTraits(traits) {}
};

const Format& jsonl_format();  // JSON Lines, one object per record
const Format& csv_format();    // one row per face

// A field of CSV, quoted if RFC 4180 requires it. safe: as Layout::csv_safe.
std::string csv_field(const std::string& value, bool safe = false);

// All of them, the default first.
const std::vector<const Format*>& formats();

// The format of a file that holds nothing but results of facesat; null for other files.
const Format* format_of_results(const std::filesystem::path& file);

}  // namespace facesat

// What the HTML pages that the program writes have in common: one self-contained file, which is
// XML, too, with the data of its tables and charts as JSON.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace facesat::html {

// Escapes text for elements and attributes. Control characters become spaces, because XML does not
// allow them.
std::string escaped(std::string_view text);

// A number with `decimals` decimals; thousands are separated by narrow no-break spaces.
std::string figure(double value, int decimals);

// A table that scrolls where the window is narrow; head and body are HTML. `kind`: its CSS class.
std::string table(const std::string& head, const std::string& body, const std::string& kind = "");

std::string words_cell(std::string_view text);  // a cell with text

// A whole page: `body` is HTML, `data` is shown to programs only, `more_style` has rules in
// addition to the common ones.
std::string document(const std::string& title, const std::string& body,
                     const nlohmann::ordered_json& data, std::string_view more_style = "");

// Writes a page, with a mark at its end, by which a later run knows that it may be replaced. Throws
// OutputError.
void write_page(const std::string& file, const std::string& page);

// To be called before the work whose result is to be written; "": there is no such file. Throws
// UsageError with the reason if the file cannot be written, or has contents that write_page() did
// not write, or that somebody has changed since.
void require_writable_page(const std::string& file);

}  // namespace facesat::html

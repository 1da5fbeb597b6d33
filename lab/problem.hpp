// What a benchmark consists of: `facesat bench NAME` runs any Problem
// (app/bench/problem_command.hpp), and writes its page. CONTRIBUTING.md lists the files of a new
// one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/image.hpp"
#include "lab/page/chart.hpp"
#include "lab/page/rows.hpp"
#include "lab/table.hpp"

namespace facesat::lab {

// An option of the command line. The variable belongs to the problem; its value before parsing is
// the default.
struct Option {
  // Of words, one is chosen, in upper or lower case.
  struct Choice {
    std::vector<std::string> words;
    std::string* value;
  };
  std::string name, type, help;
  // A flag, a text, a choice, or texts of an option that may be repeated.
  std::variant<bool*, std::string*, Choice, std::vector<std::string>*> value;
};

// What every problem is asked for.
struct Request {
  std::vector<std::string> algorithms, sizes;
  int device = 0, runs = 31;
  std::string json, report;  // files; empty: none
  std::string line;          // the command line, as it could be typed
};

// Words about an algorithm, for the page.
struct Explanation {
  std::string idea, source{};
  std::vector<std::string> more{};  // as many as Problem::explained_columns()
};

// The parts of a page that differ between reports; sentences, without markup.
struct PageText {
  std::string title;     // of the page
  std::string input;     // "picture": what the CPU's runs repeat on
  std::string check;     // how results are compared
  std::string floor;     // what the floor is: "a kernel that ..."
  std::string bytes;     // what GB/s counts: "the picture once and ..."
  std::string cpu = {};  // what else there is to know about the CPU's rows
  // How times were measured, in place of what follows from the four above; empty: as `facesat
  // bench` measures.
  std::string method = {};
};

// What the page of a benchmark says about its rows.
class Report {
 public:
  virtual ~Report() = default;
  Report() = default;
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  // What rows are that no algorithm of the collection has.
  std::map<std::string, Explanation> references{};

  virtual PageText page_text() const = 0;
  // Sets what a row's JSON says in words of its own: see Row.
  virtual void complete(Row& row, const Json& json) const = 0;
  // Rows of the same section have a heading, which begins with their type, and this beside it.
  virtual std::string heading(const Row& first, const Json& rows) const = 0;
  // The section's contents: the charts and tables that say most about such rows.
  virtual std::string section(const Rows& rows, const Looks& looks) const;
  virtual std::vector<std::string> explained_columns() const { return {}; }
  // Of an algorithm that is not in `references`, without its settings.
  virtual Explanation explain(const std::string& id) const = 0;
  // The algorithm whose time the speed-ups are measured against; "": none.
  virtual std::string speedup_over() const { return ""; }
};

// The page, from rows as --json has them. `machine`: machine_json(). `line`: the command; empty:
// there was none.
std::string page_of(const Report& report, const Json& rows, const Json& machine,
                    const std::string& line);

class Problem : public Report {
 public:
  std::string_view name, help;                    // of the command
  std::string algorithms_option = "--algorithm";  // and their type and help
  std::string algorithms_type = "ID", algorithms_help;
  std::string sizes_type = "WxH", sizes_help;
  std::vector<Option> options{};  // besides those of Request

  // Looks at the words of the command line. Returns why the GPU's algorithms are left out although
  // all were wanted, or "". Throws UsageError.
  virtual std::string choose(const Request& request) = 0;
  // Files that are written besides --json and --report, with the names of their options.
  virtual std::vector<std::pair<std::string, std::string>> further_files() const { return {}; }
  // Before anything is measured, and after choose(): reads inputs, and throws UsageError if one
  // cannot be read or a further file cannot be written.
  virtual void prepare(const Request&) {}

  virtual std::vector<Column> columns() const = 0;
  // Measures everything; rows go into the table.
  virtual void run(const Request& request, Table& table) = 0;
};

// Of `facesat bench`, in the order of the help.
std::vector<std::unique_ptr<Problem>> all_problems();

// ---- for explain()

// Of an entry of a collection (kernels/registry.hpp); nothing if there is none.
template <class Algorithm>
Explanation explanation_of(const Algorithm* algorithm, std::vector<std::string> more = {}) {
  if (!algorithm) return {};
  return {std::string(algorithm->title), std::string(algorithm->source), std::move(more)};
}

// ---- for columns()

Column text_column(std::string title, int width, std::string key);
Column size_column();  // "1920x1080", of width and height

// ---- for choose()

bool contains(const std::vector<std::string>& words, const std::string& word);
void add_new(std::vector<std::string>& list, const std::vector<std::string>& more);
std::string base_of(const std::string& text);           // "id" of "id:value"
bool wants_all(const std::vector<std::string>& asked);  // nothing, or "all"

// A size of pictures, up to 32768 x 32768. Throws UsageError.
Size picture_size(const std::string& text);
// A length that is written as "N" or "2^K", up to 2^most_bits. Throws UsageError.
int array_length(const std::string& text, int most_bits);

// Throws UsageError: "--type x: there is no such type; known are ...".
[[noreturn]] void refuse_unknown(const std::string& option, const std::string& word,
                                 const std::string& what,
                                 const std::vector<std::string_view>& known);
// Position of `word` among `known`. Throws UsageError.
std::size_t known_word(const std::string& option, const std::string& what, const std::string& word,
                       const std::vector<std::string_view>& known);
// The types of these names, from a table such as gpu::sat_types. Throws UsageError.
template <class Infos>
auto known_types(const std::vector<std::string>& names, const Infos& infos) {
  std::vector<std::string_view> known;
  for (const auto& info : infos) known.push_back(info.name);
  std::vector<decltype(infos.front().type)> types;
  for (const std::string& name : names)
    types.push_back(infos[known_word("--type", "type", name, known)].type);
  return types;
}

// A sentence that says why there is no GPU; empty if there is one. Throws UsageError if there are
// GPUs, but none with the number `device`.
std::string why_no_gpu(int device);
// Throws UsageError if there is a reason: "--model needs a GPU: ...".
void require_gpu(const std::string& option, const std::string& why_none);

}  // namespace facesat::lab

// What tests of `facesat bench` share: runs of the program, and HTML pages, read as XML.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <pugixml.hpp>

#include "lab/problem.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {

inline std::unique_ptr<lab::Problem> problem_named(std::string_view name) {
  for (auto& problem : lab::all_problems())
    if (problem->name == name) return std::move(problem);
  return nullptr;
}

// The problem, with the same words about the algorithm of every row.
inline std::unique_ptr<lab::Problem> explained_as(std::string_view name, const Json& rows,
                                                  const lab::Explanation& words) {
  std::unique_ptr<lab::Problem> problem = problem_named(name);
  for (const Json& row : rows) problem->references[lab::base_of(row["id"])] = words;
  return problem;
}

inline void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_TRUE(has(text, word));
}

// A row as a benchmark writes it with --json: what was measured, and its times.
inline Json row_of(const std::string& id, const Json& measured, double us, double floor_us) {
  Json row{{"id", id}};
  row.update(measured);
  row.update({{"median_us", us},
              {"min_us", us * 0.9},
              {"p95_us", us * 1.1},
              {"floor_us", floor_us},
              {"ratio", us / floor_us}});
  if (id != "floor") row["checked"] = true;
  return row;
}

class BenchTest : public ProgramTest {
 protected:
  bool has_gpu() const { return !Json::parse(run({"info", "--json"}).out)["devices"].empty(); }
  Json table(const std::string& file) const { return Json::parse(read_text(file)); }
  // Runs a benchmark that must find no mistake, and all of whose rows must have these values.
  // Returns the rows of algorithms: all but a GPU's floor and memcpy, which are not checked.
  Json checked_rows(const Arguments& arguments, const Json& values = Json::object()) const {
    const Finished done = run(joined(arguments, {"--runs", "2", "--json", "checked.json"}));
    EXPECT_EQ(done.status, 0) << done.err << done.out;
    EXPECT_EQ(done.err, "");
    EXPECT_FALSE(has(done.out, "WRONG"));
    Json rows = Json::array();
    const Json all = table("checked.json");
    for (const Json& row : all["rows"]) {
      for (const auto& [key, value] : values.items()) EXPECT_EQ(row[key], value) << row;
      if (row["id"] == "floor" || row["id"] == "memcpy") continue;
      EXPECT_EQ(row["checked"], true) << row;
      EXPECT_LE(row["min_us"], row["median_us"]);
      EXPECT_LE(row["median_us"], row["p95_us"]);
      rows.push_back(row);
    }
    return rows;
  }
  // Expects a page with these words, which replaces an earlier one but no file of somebody else.
  void expect_report(Arguments arguments, const std::vector<std::string>& words) const {
    arguments.insert(arguments.end(), {"--report", "r.html"});
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run(arguments).status, 0);
    expect_words(read_text("r.html"), words);
    write_text("r.html", "a page that somebody else wrote");
    expect_refused(run(arguments), {"r.html"});
  }
  // The mistake is reported with these words, and nothing is measured.
  void expect_refused(const Finished& done, const Arguments& words) const {
    EXPECT_EQ(done.status, 2) << done.err;
    EXPECT_EQ(done.out, "");
    expect_words(done.err, words);
  }
};

// A page, parsed; its elements are selected with XPath.
class Page {
 public:
  explicit Page(std::string html) : text(std::move(html)) {
    const pugi::xml_parse_result parsed =
        page_.load_string(text.c_str(), pugi::parse_default | pugi::parse_ws_pcdata);
    EXPECT_TRUE(parsed) << parsed.description() << ": " << text.substr(parsed.offset, 80);
  }
  Page(const lab::Problem& problem, const Json& rows, const Json& machine = Json::object(),
       const std::string& command = "")
      : Page(page_of(problem, rows, machine, command)) {}
  Page(std::string_view problem, const Json& rows) : Page(*problem_named(problem), rows) {}

  pugi::xpath_node_set all(const std::string& path) const {
    return page_.select_nodes(path.c_str());
  }
  std::size_t count(const std::string& path) const { return all(path).size(); }

  // All text below the elements.
  std::string words(const std::string& path) const {
    std::string words;
    for (const pugi::xpath_node& node : all(path + "//text()")) words += node.node().value();
    return words;
  }
  // The first text of each element.
  std::vector<std::string> texts(const std::string& path) const {
    std::vector<std::string> texts;
    for (const pugi::xpath_node& node : all(path)) texts.emplace_back(node.node().text().get());
    return texts;
  }
  std::vector<double> numbers(const std::string& path, const char* attribute) const {
    std::vector<double> numbers;
    for (const pugi::xpath_node& node : all(path))
      numbers.push_back(node.node().attribute(attribute).as_double(NAN));
    return numbers;
  }
  Json data() const { return Json::parse(words("//script[@id='data']")); }

  // Every link leads to one element of the page.
  void expect_links() const {
    for (const pugi::xpath_node& link : all("//@href")) {
      const std::string target = link.attribute().value();
      ASSERT_TRUE(target.starts_with("#")) << target;
      EXPECT_EQ(count("//*[@id='" + target.substr(1) + "']"), 1u) << target;
    }
  }

  std::string text;

 private:
  pugi::xml_document page_;
};

}  // namespace facesat::test

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

using Json = nlohmann::ordered_json;

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

class BenchTest : public ProgramTest {
 protected:
  using Arguments = std::vector<std::string>;

  static Arguments joined(Arguments first, const Arguments& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  bool has_gpu() const { return !Json::parse(run({"info", "--json"}).out)["devices"].empty(); }
  Json table(const std::string& file) const { return Json::parse(read_text(folder / file)); }
  // The mistake is reported with these words, and nothing is measured.
  void expect_refused(const Finished& done, const Arguments& words) const {
    EXPECT_EQ(done.status, 2) << done.err;
    EXPECT_EQ(done.out, "");
    for (const std::string& word : words)
      EXPECT_NE(done.err.find(word), std::string::npos) << word << " in " << done.err;
  }
};

inline void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
}

// A page, parsed; its elements are selected with XPath.
class Page {
 public:
  Page(const lab::Problem& problem, const Json& rows, const Json& machine = Json::object(),
       const std::string& command = "")
      : text(page_of(problem, rows, machine, command)) {
    const pugi::xml_parse_result parsed =
        page_.load_string(text.c_str(), pugi::parse_default | pugi::parse_ws_pcdata);
    EXPECT_TRUE(parsed) << parsed.description() << ": " << text.substr(parsed.offset, 80);
  }
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

// The HTML pages of benchmarks, read as XML.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <pugixml.hpp>

#include "lab/problem.hpp"

namespace facesat::test {

using Json = nlohmann::ordered_json;

inline std::unique_ptr<lab::Problem> problem_named(std::string_view name) {
  for (auto& problem : lab::all_problems())
    if (problem->name == name) return std::move(problem);
  return nullptr;
}

// A problem whose algorithms all have the same words.
class ExplainedAs final : public lab::Problem {
 public:
  ExplainedAs(std::string_view problem, lab::Explanation words)
      : problem_(problem_named(problem)), words_(std::move(words)) {}

  std::string choose(const lab::Request& request) override { return problem_->choose(request); }
  std::vector<lab::Column> columns() const override { return problem_->columns(); }
  void run(const lab::Request& request, lab::Table& table) override {
    problem_->run(request, table);
  }
  lab::PageText page_text() const override { return problem_->page_text(); }
  void complete(lab::Row& row, const Json& json) const override { problem_->complete(row, json); }
  std::string heading(const lab::Row& row, const Json& rows) const override {
    return problem_->heading(row, rows);
  }
  std::string section(const lab::Rows& rows, const lab::Looks& looks) const override {
    return problem_->section(rows, looks);
  }
  std::vector<std::string> explained_columns() const override {
    return problem_->explained_columns();
  }
  lab::Explanation explain(const std::string&) const override { return words_; }

 private:
  std::unique_ptr<lab::Problem> problem_;
  lab::Explanation words_;
};

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

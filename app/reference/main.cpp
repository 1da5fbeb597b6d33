// Writes what packages have beside the program, from the program's own command line:
// `facesat_reference man PAGE` and `facesat_reference bash`.
#include <fstream>
#include <iostream>
#include <iterator>

#include <CLI/CLI.hpp>

#include "app/commands.hpp"
#include "app/reference/reference.hpp"
#include "facesat.hpp"
#include "kernels/sat/algorithm.hpp"

int main(int argc, char** argv) try {
  using namespace facesat;
  app::Commands program;
  const auto commands = app::command_list(program.parser());
  if (const std::string what = argc > 1 ? argv[1] : ""; what == "man" && argc == 3) {
    std::ifstream file(argv[2]);
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    std::cout << app::man_page(page, commands);
  } else if (what == "bash" && argc == 2) {
    std::vector<std::string> types;
    for (const gpu::SatTypeInfo& type : gpu::sat_types) types.emplace_back(type.name);
    std::vector<std::string> ids;
    for (const SatAlgorithmInfo& one : sat_algorithms()) ids.emplace_back(one.id);
    std::cout << app::bash_completion(commands, ids, types);
  } else {
    std::cerr << "usage: facesat_reference man PAGE | bash\n";
    return 2;
  }
  return std::cout.flush() ? 0 : 1;
} catch (const facesat::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}

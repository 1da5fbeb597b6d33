#include "app/program.hpp"

int main(int argc, char** argv) {
  return facesat::app::run_program(argc, argv);
}

#include <cstdio>

#include <unistd.h>

#include "app/program.hpp"
#include "library/facesat.hpp"

int main(int argc, char** argv) {
  const int status = facesat::app::run_program(argc, argv);
  if (!facesat::Detector::is_starting()) return status;
  std::fflush(nullptr);
  ::_exit(status);
}

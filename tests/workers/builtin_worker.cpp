// The built-in worker as a program of its own, so that its tests need no command line.
#include <exception>
#include <iostream>

#include "harness/worker.hpp"

int main() {
  try {
    return parity::run_worker();
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 5;
  }
}

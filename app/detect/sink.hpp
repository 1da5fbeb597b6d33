// Writes the results of items, in input order.
#pragma once

#include <exception>

#include "app/detect/item.hpp"
#include "app/detect/progress.hpp"
#include "results/journal.hpp"
#include "results/result_file.hpp"

namespace facesat::app {

// Stops for good at the first record that cannot be written, or at an item with an error that ends
// the run.
class Sink {
 public:
  Sink(ResultFile& file, Journal& journal, const Layout& layout, Progress& progress, bool quiet)
      : file_(file), journal_(journal), layout_(layout), progress_(progress), quiet_(quiet) {}

  // Writes the item's record, unless an earlier run has written it.
  void take(const Item& item);
  bool stopped() const { return error_ != nullptr; }
  // Throws the error that stopped the sink, if there is one.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

  Counts counts;

 private:
  void write(const Item& item);

  ResultFile& file_;
  Journal& journal_;
  const Layout& layout_;
  Progress& progress_;
  bool quiet_;  // no messages about what the results contain
  std::exception_ptr error_;
};

}  // namespace facesat::app

#include "app/detect/detect.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "cascades/cascade_store.hpp"
#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>

#include "app/detect/process.hpp"
#include "app/detect/progress.hpp"
#include "app/detect/sink.hpp"
#include "app/detect/source.hpp"
#include "app/detect/workers.hpp"
#include "app/errors.hpp"
#include "app/interrupt.hpp"
#include "app/io/files.hpp"
#include "app/io/inputs.hpp"
#include "app/io/result_file.hpp"
#include "app/messages.hpp"

namespace facesat::app {
namespace {

void run_pipeline(Source& source, Workers& workers, Sink& sink, const DetectCommand& command,
                  std::size_t in_flight) {
  using ItemPtr = std::shared_ptr<Item>;
  std::atomic<bool> stop = false;
  const auto read = tbb::make_filter<void, ItemPtr>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
        std::optional<Item> item;
        if (!stop && !interrupted()) item = source.next();
        if (item) return std::make_shared<Item>(std::move(*item));
        flow.stop();
        return ItemPtr();
      });
  const auto detect =
      tbb::make_filter<ItemPtr, ItemPtr>(tbb::filter_mode::parallel, [&](const ItemPtr& item) {
        if (stop || interrupted()) return ItemPtr();
        process(*item, workers, command);
        return item;
      });
  const auto write =
      tbb::make_filter<ItemPtr, void>(tbb::filter_mode::serial_in_order, [&](const ItemPtr& item) {
        if (!item) stop = true;  // given up: nothing behind it may be written
        if (!stop) sink.take(*item);
        if (sink.stopped()) stop = true;
      });
  tbb::parallel_pipeline(in_flight, read & detect & write);
}

std::vector<std::shared_ptr<const Cascade>> load_cascades(const std::vector<std::string>& names) {
  std::vector<std::shared_ptr<const Cascade>> cascades;
  for (const std::string& name : names) cascades.push_back(find_cascade(name));
  return cascades;
}

Layout layout_of(const DetectCommand& command,
                 const std::vector<std::shared_ptr<const Cascade>>& cascades) {
  Layout layout{command.format, {}};
  for (const auto& cascade : cascades) layout.cascades.push_back(cascade->name);
  return layout;
}

bool shows_progress(const DetectCommand& command) {
  if (command.quiet) return false;
  if (command.progress != ProgressChoice::automatic) return command.progress == ProgressChoice::on;
  return standard_error_is_terminal();
}

// Standard input can be read only once, so what comes from there cannot be counted beforehand.
bool can_be_counted(const DetectCommand& command) {
  return std::find(command.inputs.begin(), command.inputs.end(), "-") == command.inputs.end();
}

}  // namespace

int run_detect(const DetectCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  check(command.detect);
  const auto cascades = load_cascades(command.cascades);
  const Backends backends(command.backend, cascades);
  const Layout layout = layout_of(command, cascades);
  const auto all_inputs = [&] {
    return Inputs(command.inputs, command.recursive, {command.annotate, command.crops});
  };
  EarlierResults earlier;
  if (command.resume) earlier = EarlierResults::read(command.output, layout);
  const std::size_t earlier_failures = earlier.failures();
  for (const std::string& folder : {command.annotate, command.crops}) make_folder(folder);
  Inputs inputs = all_inputs();
  ResultFile file(command.output, earlier.complete_bytes());
  if (earlier.complete_bytes() == 0) file.write(layout.header());

  keep_standard_error_to_ourselves();
  catch_interrupts();
  const std::size_t jobs =
      command.jobs > 0 ? command.jobs : std::max(1u, std::thread::hardware_concurrency());
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, jobs);
  Progress progress(shows_progress(command));
  if (can_be_counted(command)) progress.count_in_background(all_inputs());
  const auto tell = [&](const std::string& sentence) {
    if (!command.quiet) progress.message("facesat: " + sentence);
  };
  if (backends.remark()) tell(*backends.remark());

  Source source(std::move(inputs), std::move(earlier),
                !command.annotate.empty() || !command.crops.empty());
  Workers workers(cascades, command.detect, backends, tell);
  Sink sink(file, layout, progress, command.quiet);
  run_pipeline(source, workers, sink, command, 2 * jobs);
  sink.rethrow();
  file.close();
  progress.finish();
  if (!command.quiet) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    progress.message(summary(sink.counts, seconds.count()));
    if (sink.counts.skipped > 0)
      progress.message(fmt::format("facesat: {} of the inputs were in {} already",
                                   sink.counts.skipped, command.output));
  }
  if (interrupted()) end_as_interrupted();
  return sink.counts.failures + earlier_failures > 0 ? 1 : 0;
}

}  // namespace facesat::app

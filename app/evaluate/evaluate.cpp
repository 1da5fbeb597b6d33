#include "app/evaluate/evaluate.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tbb/global_control.h>

#include "app/detect/progress.hpp"
#include "app/evaluate/measurement.hpp"
#include "app/evaluate/pictures.hpp"
#include "app/evaluate/report.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/html.hpp"
#include "support/interrupt.hpp"
#include "support/messages.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

enum class FileKind { csv, json, html };

// Throws UsageError.
FileKind kind_of(const std::string& file) {
  for (const auto& [extension, kind] :
       {std::pair{".csv", FileKind::csv}, {".json", FileKind::json}, {".html", FileKind::html}})
    if (has_extension(file, {extension})) return kind;
  throw UsageError(fmt::format(
      "-o {}: the name must end with .csv, .json or .html, which say what is written", file));
}

// Throws UsageError unless the files are different, can be written, and hold nothing but earlier
// results.
void check_outputs(const std::vector<std::string>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k)
      if (same_file(files[i], files[k]))
        throw UsageError(fmt::format("-o {} and -o {} are the same file", files[k], files[i]));
    switch (kind_of(files[i])) {
      case FileKind::csv:
        require_own_file(files[i], {csv_titles});
        break;
      case FileKind::json:
        require_own_file(files[i], {json_beginning});
        break;
      case FileKind::html:
        html::require_writable_page(files[i]);
        break;
    }
    require_writable(files[i]);
  }
}

void write_outputs(const Evaluation& evaluation, const EvaluateCommand& command,
                   const std::vector<TestPicture>& pictures) {
  for (const std::string& file : command.outputs) switch (kind_of(file)) {
      case FileKind::csv:
        write_text(file, csv_of(evaluation));
        break;
      case FileKind::json:
        write_text(file, json_of(evaluation, command, pictures)
                                 .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                             "\n");
        break;
      case FileKind::html:
        html::write_page(file, page_of(evaluation, command, pictures));
        break;
    }
}

bool shows_progress(const EvaluateCommand& command) {
  if (command.quiet) return false;
  return command.progress == ProgressChoice::automatic ? standard_error_is_terminal()
                                                       : command.progress == ProgressChoice::on;
}

}  // namespace

int run_evaluate(const EvaluateCommand& command) {
  check_outputs(command.outputs);
  Progress progress(shows_progress(command));
  const auto say = [&](const std::string& sentence) {
    if (!command.quiet) progress.message("facesat: " + sentence);
  };
  Measurement measurement(command, say, interrupted);
  catch_interrupts();
  bool is_left_out = false;  // something in the annotations
  const std::vector<TestPicture> pictures =
      find_pictures(command, [&](const std::string& sentence) {
        is_left_out = true;
        say(sentence);
      });
  progress.expect(pictures.size());

  keep_standard_error_to_ourselves();
  prepare_codecs({command.search.max_pixels});
  const std::size_t jobs =
      command.jobs > 0 ? command.jobs : std::max(1u, std::thread::hardware_concurrency());
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, jobs);
  measurement.announce();
  Counts counts;
  const auto added = [&](const std::string& sentence) {
    if (!sentence.empty()) say(sentence);
    counts.failures = measurement.failed_pictures();
    counts.faces = measurement.faces();
    ++counts.inputs;
    ++counts.records;
    progress.update(counts);
  };
  const bool is_complete =
      !interrupted() && measure_all(pictures, measurement, 4 * jobs, added, interrupted);
  progress.finish();
  if (!is_complete) {
    progress.message("facesat: interrupted: nothing is printed or written");
    end_as_interrupted();
  }
  for (const std::string& sentence : measurement.failures()) say(sentence);
  const Evaluation evaluation = measurement.finish();
  for (const CascadeResult& cascade : evaluation.cascades)
    if (cascade.fewest_stages > 1 && command.has(Sweep::stages))
      progress.message(
          fmt::format("facesat: {}: fewer than {} stages are left out: in some picture, they "
                      "accept more than {} windows",
                      cascade.name, cascade.fewest_stages, most_windows_by_stages));
  print(table_of(evaluation, command));
  write_outputs(evaluation, command, pictures);
  if (evaluation.failures > 0)
    say(fmt::format("pictures that could not be read, and do not count: {}", evaluation.failures));
  return evaluation.failures > 0 || is_left_out ? 1 : 0;
}

}  // namespace facesat::app

// The one place that catches all exceptions.
#include "app/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "app/commands.hpp"
#include "app/common/command_line.hpp"
#include "app/train/old_names.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/interrupt.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

// Status 1 (some input failed) is returned by the commands.
enum ExitStatus { wrong_usage = 2, aborted = 3 };

int report_error(std::string_view what, ExitStatus status) {
  say_line(fmt::format("facesat: {}", what));
  return status;
}

// Occupies the standard file descriptors that are closed, so that no file opened later gets one of
// these numbers and receives what is meant for standard output or error. Afterwards, reading
// standard input and writing standard output still fail, and what is written to standard error is
// discarded. To be called before any file is opened: open() returns the lowest free number, so
// going upwards fills each gap with the right number.
void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // Standard input is opened for writing only and standard output for reading only, so that their
    // use fails. Standard error is opened for writing: messages vanish.
    const bool can_be_written = descriptor != STDOUT_FILENO;
    // Without /dev/null, the descriptor stays closed.
    [[maybe_unused]] const int opened = ::open("/dev/null", can_be_written ? O_WRONLY : O_RDONLY);
  }
}

// The error as text. Messages of CLI11 (the parser) that only programmers would understand are
// rewritten.
std::string in_words(const CLI::ParseError& error) {
  const std::string text = error.what(), could_not = "Could not convert: ";
  if (text.starts_with(could_not))
    return text.substr(could_not.size()) + ": this is not a number, or it is out of range";
  if (const std::size_t at = text.find(": At Most 1 required"); at != text.npos)
    return text.substr(0, at) + ": this option can only be given once";
  return text;
}

// Prints the requested help, or what is wrong with the command line.
int answer(const CLI::App& program, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    std::ostringstream text;
    program.exit(error, text, text);
    print(text.str() + (text.str().ends_with('\n') ? "" : "\n"));
    return 0;
  }
  std::string command = "facesat";
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    command += " " + app->get_name();
  }
  return report_error(fmt::format("{}; see '{} --help'", in_words(error), command), wrong_usage);
}

// Rejects "--option=" with nothing after it: the parser would use the next argument as the value.
void refuse_missing_values(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (argument.starts_with("--") && argument.ends_with('=') &&
        argument.find('=') + 1 == argument.size())
      throw UsageError(
          fmt::format("{}: a value is missing", argument.substr(0, argument.size() - 1)));
  }
}

int run(int argc, char** argv) {
  Commands commands;
  CLI::App& parser = commands.parser();
  const auto is_command = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  const auto all = parser.get_subcommands({});
  if (argc > 1 && *argv[1] != '-' && std::none_of(all.begin(), all.end(), is_command))
    throw UsageError(fmt::format("there is no command \"{}\": see 'facesat --help'", argv[1]));
  std::vector<std::string> arguments(argv + 1, argv + argc);
  refuse_missing_values(arguments);
  arguments = with_new_names(std::move(arguments));
  std::ranges::reverse(arguments);  // the parser takes the last one first
  try {
    parser.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return answer(parser, error);
  }
  return commands.run();
}

}  // namespace

int run_program(int argc, char** argv) {
  occupy_standard_descriptors();
  // An uncaught exception is a defect. Standard error may have been redirected by then (see
  // messages.hpp), so the message goes through report_error().
  std::set_terminate([] {
    const std::exception_ptr error = std::current_exception();
    report_error("internal error: " + (error ? reason_of(error) : "terminated"), aborted);
    std::abort();
  });
  try {
    return run(argc, argv);
  } catch (const ClosedPipe&) {
    end_as_closed_pipe();
  } catch (const OutputError& error) {
    return report_error(error.what(), aborted);
  } catch (const BackendError& error) {  // it begins with the name of the option
    return report_error(fmt::format("--{}", error.what()), wrong_usage);
  } catch (const DeviceError& error) {
    return report_error(error.what(), aborted);
  } catch (const MemoryError& error) {
    return report_error(error.what(), aborted);
  } catch (const Error& error) {  // usage, cascades, options: nothing was processed
    return report_error(error.what(), wrong_usage);
  } catch (...) {
    return report_error(reason_of(std::current_exception()), aborted);
  }
}

}  // namespace facesat::app

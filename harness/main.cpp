// The command line's door: one place that turns errors into one line and an exit code.
#include <cstdio>
#include <exception>
#include <new>

#include "datasets/errors.hpp"
#include "device/cache_folder.hpp"
#include "harness/commands.hpp"
#include "harness/options.hpp"
#include "harness/shown_text.hpp"
#include "harness/worker.hpp"

namespace {

int dispatch(const parity::Options& options) {
  parity::cache_limit();  // Refused here, not by each worker.
  switch (options.command) {
    case parity::Command::run:
      return options.resume.empty() ? parity::run_command(options)
                                    : parity::resume_command(options);
    case parity::Command::list:
      return parity::list_command(options);
    case parity::Command::show:
      return parity::show_command(options);
    case parity::Command::replay:
      return parity::replay_command(options);
    case parity::Command::selftest:
      return parity::selftest_command(options);
    case parity::Command::audit:
      return parity::audit_command(options);
    case parity::Command::cache:
      return parity::cache_command(options);
    case parity::Command::golden:
      return parity::golden_command(options);
    case parity::Command::nightly:
      return parity::nightly_command(options);
    case parity::Command::report:
      return parity::report_command(options);
    case parity::Command::worker:
      return parity::run_worker();
  }
  return 2;
}

/// One line, whatever the words of the caller, of a file or of a worker that it repeats.
void say(const char* words) {
  std::fprintf(stderr, "harness: %s\n", parity::shown_line(words).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kUsage = 2;
  constexpr int kInfrastructure = 5;
  try {
    const auto options = parity::parse_options(argc, argv);
    const int code = options ? dispatch(*options) : 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    throw parity::DatasetError("standard output cannot be written; the report is lost");
  } catch (const parity::UsageError& error) {
    say(error.what());
    return kUsage;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "harness: out of memory; ask for fewer or smaller cases (--filter), or for fewer "
                 "workers at a time (--jobs)\n");
    return kInfrastructure;
  } catch (const std::exception& error) {
    say(error.what());
    return kInfrastructure;
  }
}

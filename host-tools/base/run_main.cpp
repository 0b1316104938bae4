// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/run_main.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "host-tools/base/error.hpp"
#include "host-tools/base/memory.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

// Keeps a later file from getting the number of a closed standard stream. The descriptor is open in
// the wrong direction, so that its use fails like that of a closed one.
void open_standard_descriptors() {
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(file, F_GETFD) >= 0) continue;
        // open() returns the lowest free number, which is this one.
        (void)::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

// A write to a reader that has ended, or beyond `ulimit -f`, then fails with an error.
void ignore_signals_of_writes() {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
}

// Call it before you print an error. A second error here is not reported.
void flush_output() {
    try {
        standard_output().flush();
    } catch (const Error&) {
    }
}

}  // namespace

int run_main(const char* program, int (*run)(int argc, char** argv), int argc, char** argv) {
    open_standard_descriptors();
    ignore_signals_of_writes();
    const auto complain = [program](const std::exception& error, Exit code) {
        flush_output();
        fmt::print(stderr, "{}: {}\n", program, for_terminal(sentence_of(error)));
        return static_cast<int>(code);
    };
    catch_in_all_threads();
    try {
        const int code = run(argc, argv);
        finish_standard_output();
        return code;
    } catch (const ReaderGone& gone) {
        return static_cast<int>(gone.code());
    } catch (const Error& error) {
        return complain(error, error.code());
    } catch (const std::exception& error) {
        return complain(error, Exit::input);
    }
}

}  // namespace nopscope::host

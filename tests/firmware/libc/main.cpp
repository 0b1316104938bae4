// SPDX-License-Identifier: Apache-2.0
// newlib's assembly functions must give the same right results untraced and traced. A hook changes
// x9-x17 at a function's entry: code that keeps a value there over a call fails the second time.
#include <cstdio>

#include "tests/firmware/image.hpp"
#include "tests/firmware/libc/checks.hpp"

namespace {

namespace hal = nopscope::hal;

unsigned check_all(const char* how) {
    checks_made = 0;
    const unsigned wrong = check_memory_functions() + check_string_functions() + check_jumps();
    std::printf("%s: %zu results, %u wrong\n", how, checks_made, wrong);
    return wrong + (checks_made < 10000);
}

}  // namespace

int main() {
    const unsigned untraced = check_all("untraced");

    // The line drops what it cannot send at once: only the functions' results matter here.
    nopscope::Config config = board_config("libc");
    config.line_bytes_per_second = hal::uart_baud() / 10;
    config.recorder = nopscope::Recorder::graph;
    image::start_tracer(config);

    const unsigned traced = check_all("traced");
    if (nopscope::counters().generated == 0) hal::panic("nothing was traced");
    nopscope::finish();
    return untraced + traced != 0;
}

// SPDX-License-Identifier: Apache-2.0
// counts.elf: functions that call each other in ways that recording costs much, and little. On a
// deterministic run the number of instructions that each executes is known (tests/e2e/overhead_test.py).
// Nothing interrupts it, and the pump runs at its end only. The argument `profile`: with that recorder.
#include "firmware/config.hpp"
#include "firmware/counts/functions.hpp"
#include "hal/hal.hpp"

#include <cstring>

namespace hal = nopscope::hal;

namespace {

alignas(128) std::byte profile_memory[1 << 20];

NOPSCOPE_NOTRACE void start() {
    const bool profile = std::strstr(hal::command_line(), "profile") != nullptr;
    nopscope::Config config = board_config("counts");
    config.recorder = profile ? nopscope::Recorder::profile : nopscope::Recorder::graph;
    config.profile_memory = profile_memory;
    const auto status = nopscope::init(config);
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
    hal::set_console({nopscope::console_write, nopscope::enter_panic});
}

}  // namespace

NOPSCOPE_NOTRACE int main() {
    start();
    for (std::uint64_t n = 1; n < 60; ++n) {
        counts_empty();
        counts_loop(n);
        counts_loop_odd(7 * n);
        counts_loop(1000 + n);
        counts_loop_local(n % 10 + 1);
        counts_caller(n % 17 + 1);
        counts_mixed(n % 40);
        counts_recursive(n % 9);
        counts_outer(n % 5);
    }
    counts_fibonacci(14);
    nopscope::stop();
    (void)nopscope::disable(nopscope::Sites::all());
    hal::print("counts: done\n");
    nopscope::finish();
    return 0;
}

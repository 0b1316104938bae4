// SPDX-License-Identifier: Apache-2.0
// counts.elf: functions whose recording costs much or little. In a deterministic run the test knows
// how many instructions each one executes (tests/e2e/overhead_test.py). The pump runs only at the
// end. Arguments: `profile` or `duration`: that recorder instead of graph. `events`: also counts
// INST_RETIRED. `interrupts`: a timer whose handler calls traced functions. `unmeasured`: boots
// without calibration.
#include "nopscope/events.hpp"
#include "tests/firmware/counts/functions.hpp"
#include "tests/firmware/image.hpp"

namespace hal = nopscope::hal;
using image::is_given;

namespace {

std::uint64_t interrupts = 0;

NOPSCOPE_NOTRACE void on_timer(unsigned) {
    ++interrupts;
    (void)counts_handler(interrupts);
    hal::timer_arm(hal::clock() + hal::clock_hz() / (100'000 + interrupts % 97 * 100));
}

alignas(128) std::byte profile_memory[1 << 20];

NOPSCOPE_NOTRACE void start() {
    const bool interrupted = is_given("interrupts"),
               counted = is_given("events");  // strstr() is traced
    nopscope::Config config = board_config("counts");
    config.recorder = is_given("profile")    ? nopscope::Recorder::profile
                      : is_given("duration") ? nopscope::Recorder::duration
                                             : nopscope::Recorder::graph;
    config.interrupt_depth = hal::interrupt_depth_of;
    config.calibrate = !is_given("unmeasured");
    config.profile_memory = profile_memory;
    image::start_tracer(config);
    constexpr std::uint16_t inst_retired[] = {8};
    if (counted) image::must(nopscope::count_events(inst_retired));
    if (!interrupted) return;
    hal::set_handler(hal::timer_interrupt, 8, on_timer);
    hal::timer_arm(hal::clock());
    hal::enable_interrupts();
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
        counts_catcher(n);
    }
    counts_fibonacci(14);
    hal::disable_interrupts();
    nopscope::stop();
    (void)nopscope::disable(nopscope::Sites::all());
    hal::print("counts: done\n");
    nopscope::finish();
    return 0;
}

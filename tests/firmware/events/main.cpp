// SPDX-License-Identifier: Apache-2.0
// events.elf: counts the known events of functions. Words: `events=0`, `events=0+17` or
// `events=17+0`: which events. `profile`: that recorder instead of graph. `cores`: runs on all
// cores; each joins after the events were chosen. `change`: chooses the events again half way, in
// the other order.
#include <atomic>

#include "nopscope/events.hpp"
#include "tests/firmware/events/functions.hpp"
#include "tests/firmware/image.hpp"

namespace hal = nopscope::hal;
using image::is_given;
using image::must;

namespace {

constexpr std::uint64_t rounds = 10;
std::atomic<unsigned> at_work;

// What `events=` says. `changed`: the other order.
std::span<const std::uint16_t> wanted_events(bool changed) {
    static constexpr std::uint16_t numbers[] = {0, 17, 0};
    const std::size_t count = is_given("+") ? 2 : is_given("events=");
    return std::span(numbers).subspan(is_given("events=17+0") != changed, count);
}

void work() {
    for (std::uint64_t n = 0; n < rounds; ++n) {
        events_leaf(n);
        events_caller(n);
        events_recursive(n);
        events_tail(n);
    }
    events_of_core(hal::this_core());
}

void join_and_work(unsigned core) {
    const auto stack = hal::stack_bounds(core);
    hal::enable_interrupts();
    must(nopscope::join(stack.low, stack.high));
    work();
    --at_work;
    for (;;) hal::wait_for_interrupt();
}

void start() {
    const unsigned cores = is_given("cores") ? hal::core_count() : 1;
    nopscope::Config config = board_config("events");
    config.cores = cores;
    config.mode = nopscope::Mode::lossless;
    config.interrupt_depth = hal::interrupt_depth_of;
    config.profile_memory = image::profile_memory(cores);
    image::start_tracer(config);
    const auto recorder =
        is_given("profile") ? nopscope::Recorder::profile : nopscope::Recorder::graph;
    must(nopscope::enable(recorder, nopscope::Sites::all()));
    hal::enable_interrupts();
}

}  // namespace

int main() {
    start();
    events_leaf(1000);  // not counted
    must(nopscope::count_events(wanted_events(false)));
    if (is_given("cores")) {
        for (unsigned core = 1; core < hal::core_count(); ++core) {
            ++at_work;
            if (!hal::start_core(core, join_and_work)) hal::panic("events: a core did not start");
        }
    }
    work();
    if (is_given("change")) {
        nopscope::send_profile();
        nopscope::pump();
        must(nopscope::count_events(wanted_events(true)));
        work();
    }
    while (at_work != 0) nopscope::pump();
    must(nopscope::count_events({}));
    events_leaf(1000);  // not counted
    must(nopscope::disable(nopscope::Sites::all()));
    hal::print("events: done\n");
    nopscope::finish();
    return 0;
}

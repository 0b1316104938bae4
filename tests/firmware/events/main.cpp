// SPDX-License-Identifier: Apache-2.0
// events.elf: counts the known events of functions. Words: `events=0+8`: which events. `profile`:
// that recorder instead of graph. `cores`: runs on all cores; each joins after the events were
// chosen. `change`: chooses the events again half way, in the other order.
#include <atomic>

#include "nopscope/events.hpp"
#include "tests/firmware/events/functions.hpp"
#include "tests/firmware/image.hpp"

namespace hal = nopscope::hal;
using image::is_given;

namespace {

constexpr std::uint64_t rounds = 10;
std::atomic<unsigned> at_work;

struct Events {
    std::uint16_t numbers[2] = {};
    std::size_t count = 0;
};
Events wanted_events() {
    Events wanted;
    const char* at = std::strstr(hal::command_line(), "events=");
    if (at == nullptr) return wanted;
    at += std::strlen("events");
    do {
        char* end = nullptr;
        wanted.numbers[wanted.count++] = static_cast<std::uint16_t>(std::strtoul(at + 1, &end, 0));
        at = end;
    } while (*at == '+' && wanted.count < 2);
    return wanted;
}

void need(nopscope::Status status) {
    if (status == nopscope::Status::events_refused) {
        hal::panic(nopscope::describe(nopscope::events_refusal().why));
    }
    image::must(status);
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
    need(nopscope::join(stack.low, stack.high));
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
    need(nopscope::enable(recorder, nopscope::Sites::all()));
    hal::enable_interrupts();
}

}  // namespace

int main() {
    start();
    events_leaf(1000);  // not counted
    Events wanted = wanted_events();
    need(nopscope::count_events({wanted.numbers, wanted.count}));
    if (is_given("cores")) {
        for (unsigned core = 1; core < hal::core_count(); ++core) {
            ++at_work;
            if (!hal::start_core(core, join_and_work)) hal::panic("events: a core did not start");
        }
    }
    work();
    if (is_given("change")) {
        const std::uint16_t other_order[] = {wanted.numbers[1], wanted.numbers[0]};
        nopscope::send_profile();
        nopscope::pump();
        need(nopscope::count_events(other_order));
        work();
    }
    while (at_work != 0) nopscope::pump();
    need(nopscope::count_events({}));
    events_leaf(1000);  // not counted
    need(nopscope::disable(nopscope::Sites::all()));
    hal::print("events: done\n");
    nopscope::finish();
    return 0;
}

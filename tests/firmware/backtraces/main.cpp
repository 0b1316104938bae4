// SPDX-License-Identifier: Apache-2.0
// Makes the same calls for ever. Words of the command line say how they are traced:
//
//     recorder=none|function|graph|profile|duration|sampled
//     ops=callback|unguarded|return   events=1   sample=2
//
// ops: on all functions, beside the recorder. events: counts one. sample: every second call.
#include "tests/firmware/backtraces/calls.hpp"
#include "tests/firmware/image.hpp"

namespace hal = nopscope::hal;

using image::is_given;
using image::must;
using nopscope::Sites;

namespace {

constexpr unsigned sgi = 3;

void on_entry(std::uint64_t, std::uint64_t, nopscope::Ops*, nopscope::Regs*) {}
nopscope::Ops callback{.func = on_entry};
nopscope::Ops unguarded{.func = on_entry, .flags = nopscope::ops_unguarded};

image::Task task;

void run_on_the_task() {
    for (;;) {
        begin_task();
        const hal::InterruptsMasked masked;
        task.leave();
    }
}

void run_core(unsigned) {
    const auto [low, high] = hal::stack_bounds();
    must(nopscope::join(low, high));
    begin_core();
}

void start_tracing() {
    nopscope::Config config = image::config_given("backtraces");
    config.output = {image::swallow, nullptr};  // only gdb looks
    must(nopscope::init(config));
    if (is_given("ops=callback")) must(nopscope::attach(callback, Sites::all()));
    if (is_given("ops=unguarded")) must(nopscope::attach(unguarded, Sites::all()));
    image::trace_as_given(Sites::all());
    for (unsigned core = 1; core < hal::core_count(); ++core) {
        if (!hal::start_core(core, run_core)) hal::panic("a core did not start");
    }
}

}  // namespace

extern "C" [[gnu::noinline]] void stopped(unsigned place) { asm volatile("" : : "r"(place)); }

extern "C" void run_task() {
    const hal::InterruptsMasked masked;
    task.enter();
}

int main() {
    start_tracing();
    must(task.create(run_on_the_task));
    hal::set_handler(sgi, 8, on_interrupt);
    hal::enable_interrupts();
    for (unsigned n = 1;; ++n) {
        (void)begin(n);
        nopscope::pump();  // empties the ring: recorders must not wait in the calls
    }
}

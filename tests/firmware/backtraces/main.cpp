// SPDX-License-Identifier: Apache-2.0
// Makes the same calls for ever. Words of the command line say how they are traced:
//
//     recorder=none|function|graph|profile|duration|sampled
//     ops=callback|unguarded|return   events=1   sample=2
//
// ops: on all functions, beside the recorder. events: counts one. sample: every second call.
#include "nopscope/contexts.hpp"
#include "nopscope/events.hpp"
#include "nopscope/return_ops.hpp"
#include "tests/firmware/backtraces/calls.hpp"
#include "tests/firmware/image.hpp"

namespace hal = nopscope::hal;

using image::is_given;
using image::must;
using nopscope::Recorder;
using nopscope::Sites;

namespace {

constexpr std::uint16_t instructions_retired = 8;
constexpr unsigned sgi = 3;

unsigned entries, exits;
void on_entry(std::uint64_t, std::uint64_t, nopscope::Ops*, nopscope::Regs*) {
    entries = entries + 1;
}
bool on_begin(std::uint64_t, std::uint64_t, nopscope::ReturnOps*, nopscope::Regs*,
              nopscope::CallData*) {
    return true;
}
void on_end(std::uint64_t, std::uint64_t, nopscope::ReturnOps*, nopscope::ReturnRegs*,
            nopscope::CallData*) {
    exits = exits + 1;
}
nopscope::Ops callback{.func = on_entry};
nopscope::Ops unguarded{.func = on_entry, .flags = nopscope::ops_unguarded};
nopscope::ReturnOps at_return(on_begin, on_end);

std::uint64_t main_sp, task_sp;
alignas(16) unsigned char task_stack[16384];
nopscope::Context task;
nopscope::ContextFrame task_frames[17];

void switch_to_main() {
    const hal::InterruptsMasked masked;
    must(nopscope::context_switch(nopscope::main_context()));
    switch_stacks(&task_sp, main_sp);
}
void run_on_the_task() {
    for (;;) {
        begin_task();
        switch_to_main();
    }
}
void create_task() {
    const auto low = reinterpret_cast<std::uintptr_t>(task_stack);
    const std::uint64_t high = low + sizeof task_stack;
    must(nopscope::context_create(task, task_frames, low, high));
    task_sp = image::begin_stack(high, run_on_the_task);
}

void run_core(unsigned) {
    const auto [low, high] = hal::stack_bounds();
    must(nopscope::join(low, high));
    begin_core();
}

void start_tracing() {
    nopscope::Config config = board_config("backtraces");
    config.output = {image::swallow, nullptr};  // only gdb looks
    config.cores = hal::core_count();
    config.mode = nopscope::Mode::lossless;
    config.interrupt_depth = hal::interrupt_depth_of;
    if (image::recorder_given() == Recorder::profile)
        config.profile_memory = image::profile_memory(config.cores);
    must(nopscope::init(config));
    if (is_given("ops=callback")) must(nopscope::attach(callback, Sites::all()));
    if (is_given("ops=unguarded")) must(nopscope::attach(unguarded, Sites::all()));
    must(nopscope::enable(image::recorder_given(), Sites::all()));
    if (is_given("ops=return")) must(nopscope::attach(at_return, Sites::all()));
    if (is_given("recorder=sampled")) nopscope::set_sample(is_given("sample=2") ? 2 : 1);
    if (is_given("events=1")) must(nopscope::count_events({&instructions_retired, 1}));
    for (unsigned core = 1; core < hal::core_count(); ++core) {
        if (!hal::start_core(core, run_core)) hal::panic("a core did not start");
    }
}

}  // namespace

extern "C" [[gnu::noinline]] void stopped(unsigned place) { asm volatile("" : : "r"(place)); }

extern "C" void run_task() {
    const hal::InterruptsMasked masked;
    must(nopscope::context_switch(task));
    switch_stacks(&main_sp, task_sp);
}

int main() {
    start_tracing();
    create_task();
    hal::set_handler(sgi, 8, on_interrupt);
    hal::enable_interrupts();
    for (unsigned n = 1;; ++n) {
        (void)begin(n);
        nopscope::pump();  // empties the ring: recorders must not wait in the calls
    }
}

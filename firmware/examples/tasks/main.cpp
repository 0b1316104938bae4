// SPDX-License-Identifier: Apache-2.0
// Tasks under nopscope. Command-line words:
//
//   (none)         two cooperative tasks (cooperative.cpp)
//   switches=many  the same, with switches most of the time
//   preempt=1      a small preemptive kernel (kernel.hpp) and tasks that use all of it
//                  (preemptive.cpp): cores=N (1), slice_us=N (100), switches=N (10000),
//                  pump=idle, tick, task or recorders (idle),
//                  recorder=graph, function, duration, sampled, profile or none (graph),
//                  mode=lossless, stream, flight or adaptive (lossless),
//                  interrupt_stacks=1: interrupts have a stack of their own,
//                  detach=N (0): a task attaches and detaches callbacks N times
#include "workloads.hpp"

#include "hal/hal.hpp"
#include "nopscope/interrupts.hpp"
#include "nopscope/nopscope.hpp"

#include <stdlib.h>
#include <string.h>

namespace hal = nopscope::hal;

static bool is_given(const char* word) { return strstr(hal::command_line(), word) != nullptr; }
static Pumps pumps() {
    if (is_given("pump=tick")) return Pumps::tick;
    if (is_given("pump=task")) return Pumps::task;
    return is_given("pump=recorders") ? Pumps::recorders : Pumps::idle;
}
static nopscope::Recorder recorder() {
    using nopscope::Recorder;
    if (is_given("recorder=none")) return Recorder::none;
    if (is_given("recorder=function")) return Recorder::function;
    if (is_given("recorder=duration")) return Recorder::duration;
    if (is_given("recorder=sampled")) return Recorder::sampled;
    return is_given("recorder=profile") ? Recorder::profile : Recorder::graph;
}
static nopscope::Mode mode() {
    using nopscope::Mode;
    if (is_given("mode=stream")) return Mode::stream;
    if (is_given("mode=flight")) return Mode::flight;
    return is_given("mode=adaptive") ? Mode::adaptive : Mode::lossless;
}
static std::uint64_t number(const char* word, std::uint64_t otherwise) {
    const char* const at = strstr(hal::command_line(), word);
    return at == nullptr ? otherwise : strtoull(at + strlen(word), nullptr, 10);
}

int main() {
    const bool preempts = is_given("preempt=1");
#ifndef NOPSCOPE_DEFERS
    if (preempts) hal::panic("tasks: preempt=1 needs a tracer that defers interrupts");
#endif
    const auto cores = preempts ? static_cast<unsigned>(number("cores=", 1)) : 1;
    if (cores == 0 || cores > hal::core_count()) hal::panic("tasks: cores=N: the machine has less");
    const auto [low, high] = hal::stack_bounds();
    nopscope::Config config = {.image = "tasks",
                               .board = hal::board_name(),
                               .clock_hz = hal::clock_hz(),
                               .cores = cores,
                               .output = {hal::uart_try_write, hal::uart_drain},
                               .stack_low = low,
                               .stack_high = high,
                               .mode = mode(),
                               .interrupt_depth = hal::interrupt_depth_of};
    config.input.interrupted_pc = hal::interrupted_pc;
    config.panic = hal::panic;
    if (recorder() == nopscope::Recorder::profile || mode() == nopscope::Mode::adaptive) {
        const std::size_t bytes = nopscope::profile_bytes(cores);
        config.profile_memory = {static_cast<std::byte*>(malloc(bytes)), bytes};
    }
    if (const auto status = nopscope::init(config); status != nopscope::Status::ok)
        hal::panic(nopscope::describe(status));
    hal::set_console({nopscope::console_write, nopscope::enter_panic});
    hal::set_return_hook(
        {nopscope::is_return_hook, nopscope::hooked_return_address_of, nopscope::is_entry_code});
    if (preempts) {
        hal::set_interrupt_observer({nopscope::interrupt_begin, nopscope::interrupt_end,
                                     nopscope::interrupts_masked, nopscope::interrupts_unmasked});
        run_preemptive({cores, number("slice_us=", 100) * hal::clock_hz() / 1'000'000,
                        number("switches=", 10'000), pumps(), recorder(),
                        static_cast<unsigned>(number("detach=", 0)),
                        is_given("interrupt_stacks=1") ? kernel::Interrupts::on_their_stack
                                                       : kernel::Interrupts::on_the_task_s_stack});
    } else {
        run_cooperative(is_given("switches=many"));
    }
    nopscope::finish();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Slow paths of the recorders and trampolines: the assembly calls them.
#include "tracer/arch/machine.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/recorders/open_calls.hpp"
#include "tracer/recorders/shadow_stack.hpp"
#include "tracer/stream/board_pump.hpp"

namespace nopscope {

namespace {
constinit Machine machine;
}

std::uint64_t take_stray_of_cores(std::uint64_t sp, std::uint64_t hook) {
    std::uint64_t found = 0;
    for (unsigned n = 0; n < max_cores && found == 0; ++n)
        found = take_stray(core_memory[n].shadow, sp, hook);
    return found;
}

extern "C" {

// At a call's return, if the ring is full or recording is stopped: records the duration if it can.
void nopscope_duration_without_room(Core* here) {
    const auto put = [here](std::uint64_t limit) {
        return put_duration(machine, *here, *top_frame(*here), limit);
    };
    do {
        if (put_in_context(machine, *here, put)) return;
    } while (here->lossless != 0 && nopscope_wait_for_room(here, 0, moment(machine, *here), 0));
    add_one(here->dropped);
}

// At a function's entry, with its SP and return address. Returns the shadow stack's top.
std::uint64_t nopscope_unwind_at_entry(Core* here, std::uint64_t sp, Moment began,
                                       std::uint32_t before, std::uint64_t return_address) {
    return unwind(machine, *here, sp, hook_of(return_address) == Hook::none, {began, before});
}

std::uint64_t nopscope_unwind_at_return(Core* here, std::uint64_t sp, Moment began,
                                        std::uint32_t before, std::uint64_t hook) {
    if (has_open(*here, sp)) {
        const std::uint64_t top = unwind(machine, *here, sp, false, {began, before});
        if (top_frame(*here)->sp == sp) return top;
    }
    std::uint64_t address = take_stray_of_contexts(sp, hook);
    if (address == 0) address = take_stray_of_cores(sp, hook);
    if (address == 0) address = exhume(*here, sp, hook);
    if (address == 0)
        panic("nopscope: a function returned to the hook, but no open call has its stack pointer");
    add_one(here->stray_returns);
    return address + stray_return;
}
}

}  // namespace nopscope

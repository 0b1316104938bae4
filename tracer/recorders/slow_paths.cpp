// SPDX-License-Identifier: Apache-2.0
// Slow paths of the recorders and trampolines: the assembly calls them.
#include "tracer/arch/machine.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/recorders/open_calls.hpp"
#include "tracer/recorders/tail_calls.hpp"
#include "tracer/stream/board_pump.hpp"

namespace nopscope {

namespace {

constinit Machine machine;

// `began`, unless the task has moved to another core since: then it is of that core's ring.
Moment began_here(const Core& here, const Core* began_on, Moment began) {
    return began_on == &here ? began : Moment{};
}

bool wait_for_room(const Core& core, Moment began) {
    return nopscope_wait_for_room(&core, 0, began, 0);
}

// True if the ring lacks room for the durations of the calls that unwind() will end. Returns have
// room of their own.
bool lacks_room_for_durations(const Core& core, std::uint64_t sp, bool same_sp_too) {
    std::uint64_t bytes = 0;
    const std::uint64_t duration_hook = hook_address(Hook::duration);
    for_each_open(core, [&](const ShadowFrame& frame) {
        if (frame.sp > sp || (frame.sp == sp && !same_sp_too)) return false;
        if (frame.hook == duration_hook) bytes += duration_bytes;
        return true;
    });
    return bytes != 0 && core.cursor + bytes > entry_limit(core);
}

// Before unwind(), in lossless mode: waits for room for these durations.
[[gnu::noinline]] void make_room_for_durations(std::uint64_t sp, bool same_sp_too) {
    const Core* full = nullptr;
    Moment began;
    {
        const Here here;
        const Core& core = here.core();
        if (core.lossless == 0 || !lacks_room_for_durations(core, sp, same_sp_too)) return;
        full = &core;
        began = moment(machine, core);
    }
    (void)wait_for_room(*full, began);
}

[[gnu::always_inline]] inline std::uint64_t unwind_here(std::uint64_t sp, bool same_sp_too,
                                                        const Core* began_on, Moment began,
                                                        std::uint32_t before) {
    if (durations_used) make_room_for_durations(sp, same_sp_too);
    const Here here;
    Core& core = here.core();
    return unwind(machine, core, sp, same_sp_too, {began_here(core, began_on, began), before});
}

bool has_open_here(std::uint64_t sp) {
    const Here here;
    return has_open(here.core(), sp);
}

}  // namespace

std::uint64_t end_jumper(const Jump& jump, std::uint64_t sp, std::uint64_t return_address,
                         std::uint64_t function, const ReturnOps* ops) {
    if (durations_used) make_room_for_durations(sp, true);
    for (const ShadowFrame* first = nullptr;;) {
        ShadowFrame* frame = nullptr;
        bool calls_exit = false;
        {
            const Here here;
            Core& core = here.core();
            if (first == nullptr) {
                if (!is_reached_by_jump(core, sp, return_address, function, ops))
                    return return_address;
                first = first_of_jumper(core);
                if (first == nullptr) return return_address;
                return_address = first->return_address;
            }
            frame = top_frame(core);
            calls_exit = is_callback(*frame);
            if (!calls_exit) {
                frame->sp = free_frame_sp;
                core.top = reinterpret_cast<std::uintptr_t>(frame);
                end_at_jump(machine, core, *frame, began_here(core, jump.on, jump.began),
                            jump.profiled);
            }
        }
        if (calls_exit) end_callbacks_call(sp);
        if (frame == first) return return_address;
    }
}

extern "C" {

// At a call's return, if the ring is full or recording is stopped: records the duration if it can.
void nopscope_duration_without_room() {
    for (bool room = true;;) {
        const Core* full = nullptr;
        Moment began;
        {
            const Here here;
            Core& core = here.core();
            const auto put = [&core](std::uint64_t limit) {
                return put_duration(machine, core, *top_frame(core), limit);
            };
            if (put_in_context(machine, core, put)) return;
            if (core.lossless == 0 || !room) return add_one(core.dropped);
            full = &core;
            began = moment(machine, core);
        }
        room = wait_for_room(*full, began);
    }
}

// At a function's entry, with its SP and return address. Returns the latter; after a jump that
// ended a call, that call's.
std::uint64_t nopscope_unwind_at_entry(const Core* began_on, std::uint64_t sp, Moment began,
                                       std::uint32_t before, std::uint64_t return_address,
                                       std::uint64_t body, std::uint64_t profiled) {
    const bool is_hook = hook_of(return_address) != Hook::none;
    unwind_here(sp, !is_hook, began_on, began, before);
    if (!is_hook) return return_address;
    return end_jumper({began_on, began, profiled}, sp, return_address, function_of_body(body),
                      nullptr);
}

std::uint64_t nopscope_unwind_at_return(const Core* began_on, std::uint64_t sp, Moment began,
                                        std::uint32_t before, std::uint64_t hook) {
    if (has_open_here(sp)) {
        const std::uint64_t top = unwind_here(sp, false, began_on, began, before);
        if (reinterpret_cast<const ShadowFrame*>(top)[-1].sp == sp) return top;
    }
    std::uint64_t address = take_stray_of_contexts(sp, hook);
    const Here here;
    Core& core = here.core();
    if (address == 0) address = exhume(core, sp, hook);
    if (address == 0)
        panic("nopscope: a function returned to the hook, but no open call has its stack pointer");
    add_one(core.stray_returns);
    return address + stray_return;
}
}

}  // namespace nopscope

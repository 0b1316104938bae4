// SPDX-License-Identifier: Apache-2.0
// Pushes and pops the shadow frames of ReturnOps, with interrupts masked. `position` is the
// function, `rest` {ReturnOps, CallData}. The entry and exit functions run with interrupts as they
// were, so the task may go on on another core. Another core's detach() may clear the ReturnOps, so
// it is read once, under the guard.
#include "nopscope/return_ops.hpp"

#include "tracer/arch/calling_convention.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/guard.hpp"
#include "tracer/core/here.hpp"
#include "tracer/recorders/open_calls.hpp"
#include "tracer/recorders/tail_calls.hpp"

namespace nopscope {
namespace {

constinit Machine machine;

bool has_frame_left(Core& core) {
    if (core.top < core.frames_end) return true;
    __atomic_fetch_add(&core.shadow_stack_full, 1, __ATOMIC_RELAXED);
    return false;
}
[[gnu::noinline]] bool unwind_to_place(Core& core, std::uint64_t sp, std::uint64_t return_address) {
    unwind(machine, core, sp, hook_of(return_address) == Hook::none);
    return has_frame_left(core);
}

// For an SP that is outside the stack, or below all before. False: it is outside.
[[gnu::noinline]] bool is_on_stack(Core& core, std::uint64_t sp) {
    if (sp < core.stack_low || sp >= core.stack_high) {
        __atomic_fetch_add(&core.off_stack, 1, __ATOMIC_RELAXED);
        return false;
    }
    std::uint64_t lowest = __atomic_load_n(&core.lowest_sp, __ATOMIC_RELAXED);
    while (sp < lowest && !__atomic_compare_exchange_n(&core.lowest_sp, &lowest, sp, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return true;
}

// Makes room on the shadow stack for a call with this SP and return address. False: there is none.
[[gnu::always_inline]] inline bool make_place(Core& core, std::uint64_t sp,
                                              std::uint64_t return_address) {
    if ((sp < core.lowest_sp || sp >= core.stack_high) && !is_on_stack(core, sp)) return false;
    return top_frame(core)->sp <= sp ? unwind_to_place(core, sp, return_address)
                                     : has_frame_left(core);
}
// Ends the call of a function that jumped here. True: one has jumped here that was called, not
// reached by a jump. That call may have an exit function, so interrupts are as they were.
[[gnu::noinline]] bool end_jumper_of(Regs& regs, std::uint64_t ip, const ReturnOps& ops) {
    std::uint64_t& return_address = arch::return_address(regs);
    Jump jump;
    {
        const Here here;
        jump = {&here.core(), moment(machine, here.core()), here.core().profiled};
    }
    return_address = end_jumper(jump, regs.sp, return_address, ip, &ops);
    const Here here;
    return is_reached_by_jump(here.core(), regs.sp, return_address, ip, &ops);
}

// Finds the caller of a call that is about to be hooked. If others have hooked this call, their
// frames are on top and lead to its caller. False: there is no place on the shadow stack.
bool find_caller(Regs& regs, std::uint64_t& caller) {
    const Here here;
    if (!make_place(here.core(), regs.sp, arch::return_address(regs))) return false;
    caller = caller_behind(here.core(), arch::return_address(regs));
    return true;
}
std::uint64_t caller_of(const ShadowFrame& frame) {
    if (!returns_to_hook(frame)) return frame.return_address;
    const Here here;
    return caller_behind(here.core(), frame.return_address, &frame);
}

// The open call that returns, or where it returns to if its frame is not on this shadow stack.
struct Returning {
    ShadowFrame* frame;
    std::uint64_t stray;
};
Returning returning(std::uint64_t sp) {
    const Here here;
    ShadowFrame* const frame = top_frame(here.core());
    if (frame->sp == sp) return {frame, 0};
    const std::uint64_t top =
        nopscope_unwind_at_return(&here.core(), sp, {}, 0, hook_address(Hook::callback));
    if ((top & stray_return) != 0) return {nullptr, top - stray_return};
    return {reinterpret_cast<ShadowFrame*>(top) - 1, 0};
}
// Frames above, if there are any, are of calls that the exit function has left by longjmp.
std::uint64_t pop(ShadowFrame& frame) {
    const Here here;
    Core& core = here.core();
    if (top_frame(core) != &frame) unwind(machine, core, frame.sp, false);
    frame.sp = free_frame_sp;
    core.top = reinterpret_cast<std::uintptr_t>(&frame);
    return frame.return_address;
}

}  // namespace

void hook_call(std::uint64_t ip, std::uint64_t, Ops* ops, Regs* regs) {
    auto& self = *static_cast<ReturnOps*>(ops);
    const bool jumped =
        hook_of(arch::return_address(*regs)) != Hook::none && end_jumper_of(*regs, ip, self);
    CallData data{};
    if (self.entry != nullptr) {
        std::uint64_t caller = 0;
        if (!find_caller(*regs, caller) || !self.entry(ip, caller, &self, regs, &data)) return;
    }
    const Here here;
    Core& core = here.core();
    // Also again: a longjmp in `entry` may have left frames behind.
    if (!make_place(core, regs->sp, arch::return_address(*regs))) return;
    auto* frame = reinterpret_cast<ShadowFrame*>(core.top);
    core.top = reinterpret_cast<std::uintptr_t>(frame + 1);
    frame->return_address = arch::return_address(*regs);
    frame->hook = arch::return_address(*regs) = hook_address(Hook::callback);
    frame->position = ip | (jumped ? reached_by_jump : 0);
    for (unsigned i = 0; i < 3; ++i) frame->rest[1 + i] = data.words[i];
    __atomic_store_n(&frame->rest[0], reinterpret_cast<std::uintptr_t>(&self), __ATOMIC_RELAXED);
    frame->sp = regs->sp;
}

// The same function under its name in C (return_ops.h): detach() knows a ReturnOps by its callback.
extern "C" [[gnu::alias("_ZN8nopscope9hook_callEmmPNS_3OpsEPNS_4RegsE")]] void nopscope_hook_call(
    std::uint64_t, std::uint64_t, Ops*, Regs*);

// The same word in a popped frame, or in another hook's, means nothing.
void forget_ops(std::span<ShadowFrame> frames, ReturnOps& ops) {
    for (ShadowFrame& frame : frames) {
        std::uint64_t expected = reinterpret_cast<std::uintptr_t>(&ops);
        if (frame.hook != hook_address(Hook::callback)) continue;
        __atomic_compare_exchange_n(&frame.rest[0], &expected, 0, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
    }
}
void forget_ops_of_cores(ReturnOps& ops) {
    for (CoreMemory& core : core_memory) forget_ops(core.shadow, ops);
}

// Calls the exit function, unless the ops is detached, and pops the frame.
extern "C" std::uint64_t nopscope_on_return(ReturnRegs* regs) {
    const auto [frame, stray] = returning(regs->sp);
    if (frame == nullptr) return stray;
    // If an outer callback has taken the guard already, that keeps `ops` alive, too.
    const Guard guard;
    auto* ops = reinterpret_cast<ReturnOps*>(__atomic_load_n(&frame->rest[0], __ATOMIC_RELAXED));
    if (ops != nullptr) {
        auto* data = reinterpret_cast<CallData*>(&frame->rest[1]);
        ops->exit(function_of(*frame), caller_of(*frame), ops, regs, data);
    }
    return pop(*frame);
}
void end_callbacks_call(std::uint64_t sp) {
    ReturnRegs regs;
    for (std::uint64_t& x : regs.x) __atomic_store_n(&x, 0, __ATOMIC_RELAXED);
    regs.sp = sp;
    (void)nopscope_on_return(&regs);
}

}  // namespace nopscope

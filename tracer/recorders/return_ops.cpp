// SPDX-License-Identifier: Apache-2.0
// Pushes and pops the shadow frames of ReturnOps. The order of stores is that of the recorders
// (core.hpp), so an interrupt anywhere is harmless. `position` is the function, `rest` {ReturnOps,
// CallData}. Another core's detach() may clear the ReturnOps, so it is read once, under the guard.
#include "nopscope/return_ops.hpp"

#include "tracer/arch/calling_convention.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/core/guard.hpp"
#include "tracer/recorders/open_calls.hpp"
#include "tracer/recorders/shadow_stack.hpp"

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

// Makes room on the shadow stack for a call with this SP and return address. False: there is none.
bool make_place(Core& core, std::uint64_t sp, std::uint64_t return_address) {
    if (sp < core.stack_low || sp >= core.stack_high) {
        __atomic_fetch_add(&core.off_stack, 1, __ATOMIC_RELAXED);
        return false;
    }
    return top_frame(core)->sp <= sp ? unwind_to_place(core, sp, return_address)
                                     : has_frame_left(core);
}

// Keeps the compiler from reordering stores, for interrupts of this core.
template <typename T>
void store(T& to, T value) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&to, value, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

}  // namespace

void hook_call(std::uint64_t ip, std::uint64_t, Ops* ops, Regs* regs) {
    auto& self = *static_cast<ReturnOps*>(ops);
    Core& core = *arch::current_core();
    if (!make_place(core, regs->sp, arch::return_address(*regs))) return;
    CallData data{};
    if (self.entry != nullptr) {
        // If others have hooked this call, their frames are on top and lead to its caller.
        const std::uint64_t parent = caller_behind(core, arch::return_address(*regs));
        if (!self.entry(ip, parent, &self, regs, &data)) return;
        // A longjmp in `entry` may have left frames behind.
        if (!make_place(core, regs->sp, arch::return_address(*regs))) return;
    }
    auto* frame = reinterpret_cast<ShadowFrame*>(core.top);
    store(core.top, reinterpret_cast<std::uint64_t>(frame + 1));
    frame->return_address = arch::return_address(*regs);
    frame->hook = arch::return_address(*regs) = hook_address(Hook::callback);
    frame->position = ip;
    for (unsigned i = 0; i < 3; ++i) frame->rest[1 + i] = data.words[i];
    __atomic_store_n(&frame->rest[0], reinterpret_cast<std::uintptr_t>(&self), __ATOMIC_RELAXED);
    store(frame->sp, regs->sp);
}

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

extern "C" std::uint64_t nopscope_on_return(ReturnRegs* regs) {
    Core& core = *arch::current_core();
    ShadowFrame* frame = top_frame(core);
    if (frame->sp != regs->sp) {
        const std::uint64_t hook = hook_address(Hook::callback);
        const std::uint64_t top = nopscope_unwind_at_return(&core, regs->sp, {}, 0, hook);
        if ((top & stray_return) != 0) return top - stray_return;
        frame = reinterpret_cast<ShadowFrame*>(top) - 1;
    }
    // If an outer callback has taken the guard already, that keeps `ops` alive, too.
    const Guard guard(core);
    auto* ops = reinterpret_cast<ReturnOps*>(__atomic_load_n(&frame->rest[0], __ATOMIC_RELAXED));
    if (ops != nullptr) {
        auto* data = reinterpret_cast<CallData*>(&frame->rest[1]);
        ops->exit(frame->position, caller_behind(core, frame->return_address, frame), ops, regs,
                  data);
        if (top_frame(core) != frame) unwind(machine, core, frame->sp, false);
    }
    const std::uint64_t return_address = frame->return_address;
    store(frame->sp, free_frame_sp);
    store(core.top, reinterpret_cast<std::uint64_t>(frame));
    return return_address;
}

}  // namespace nopscope

// SPDX-License-Identifier: Apache-2.0
/// \file
/// ReturnOps: callbacks at function entries and returns.
///
///     bool begin(std::uint64_t, std::uint64_t, nopscope::ReturnOps*, nopscope::Regs*,
///                nopscope::CallData* data) {
///         data->words[0] = now();
///         return true;  // call `end` when it returns
///     }
///     void end(std::uint64_t ip, std::uint64_t, nopscope::ReturnOps*, nopscope::ReturnRegs*,
///              nopscope::CallData* data) {
///         note(ip, now() - data->words[0]);
///     }
///     static nopscope::ReturnOps timer(begin, end);
///     nopscope::attach(timer, nopscope::Sites::of(functions));
///
/// A function may have several, beside other callbacks and a recorder. They nest: the first one
/// attached is the outermost. stop() does not affect them.
#pragma once

#include "nopscope/ops.hpp"

namespace nopscope {

/// Three words that belong to one call, from its entry to its exit.
struct CallData {
    std::uint64_t words[3];  ///< Initially 0.
};

/// The registers at a function's return. The tracer preserves v0 to v7, or fa0 to fa7.
struct ReturnRegs {
    std::uint64_t x[9];  ///< x0 to x8, or a0 to a7: maybe results; a callback may change them.
    std::uint64_t sp;    ///< The stack pointer.
};

/// An ops that sees calls return. It needs static storage until detach() has returned Status::ok.
/// No exit is called after that, although calls may still be open.
struct ReturnOps : Ops {
    /// A callback at a function's entry, under the rules of ::Callback. `parent_ip` is where the
    /// call returns to, also for a tail call. Return true to have `exit` called for this call.
    ///
    /// The tracer does not call it if it could not call `exit`: the shadow stack is full
    /// (Counters::shadow_stack_full), or SP lies outside the stack (Counters::off_stack).
    using Entry = bool (*)(std::uint64_t ip, std::uint64_t parent_ip, ReturnOps* ops, Regs* regs,
                           CallData* data);
    /// A callback when the call returns to `return_address`, under the rules of ::Callback. The
    /// tracer does not call it for a call that longjmp ends, nor after detach(). If a function that
    /// was reached by a tail call ends by one, it is called at that jump: there is no result yet,
    /// so `regs->x` is 0, and changes of it mean nothing.
    using Exit = void (*)(std::uint64_t ip, std::uint64_t return_address, ReturnOps* ops,
                          ReturnRegs* regs, CallData* data);

    /// `at_entry` may be null: `at_exit` is then called for every call. `argument` becomes
    /// Ops::user.
    constexpr ReturnOps(Entry at_entry, Exit at_exit, void* argument = nullptr);

    Entry entry;  ///< The callback at entries, or null.
    Exit exit;    ///< The callback at returns.
};

/// The callback of every ReturnOps. The tracer calls it.
void hook_call(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs);

constexpr ReturnOps::ReturnOps(Entry at_entry, Exit at_exit, void* argument)
    : Ops{.func = hook_call, .user = argument}, entry(at_entry), exit(at_exit) {}

// arch/arm64/callback_hook.S relies on these offsets.
static_assert(offsetof(ReturnRegs, sp) == 72 && sizeof(ReturnRegs) == 80);

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void hook_call(std::uint64_t, std::uint64_t, Ops*, Regs*) {}
#endif

}  // namespace nopscope

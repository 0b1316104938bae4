// SPDX-License-Identifier: Apache-2.0
// ReturnOps: an ops that sees calls return, too.
//
//     bool begin(std::uint64_t, std::uint64_t, nopscope::ReturnOps*, nopscope::Regs*,
//                nopscope::CallData* data) {
//         data->words[0] = now();
//         return true;  // tell me when it returns
//     }
//     void end(std::uint64_t ip, std::uint64_t, nopscope::ReturnOps*, nopscope::ReturnRegs*,
//              nopscope::CallData* data) {
//         note(ip, now() - data->words[0]);
//     }
//     static nopscope::ReturnOps timer(begin, end);
//     nopscope::attach(timer, nopscope::Sites::of(functions));
//
// Several may be on one function, beside other callbacks and a recorder: they nest, the first attached
// outermost. stop() does not affect them.
#pragma once

#include "nopscope/ops.hpp"

namespace nopscope {

// One call's own words, from its entry to its exit. 0 at first.
struct CallData {
    std::uint64_t words[3];
};

// The registers at a function's return: x[0..7] may be results and may be changed. v0-v7 are kept.
struct ReturnRegs {
    std::uint64_t x[9];
    std::uint64_t sp;
};

// Static storage, until detach() has returned Status::ok: no exit is called after, though calls may
// still be open.
struct ReturnOps : Ops {
    // As a Callback, and under its rules. parent_ip is where the call returns to, also of a tail
    // call. True: `exit` is wanted for this call. Not called where the exit could not be: the shadow
    // stack is full, or SP is outside the stack (counted: unhooked, foreign).
    using Entry = bool (*)(std::uint64_t ip, std::uint64_t parent_ip, ReturnOps* ops, Regs* regs,
                           CallData* data);
    // Under the rules of a Callback, when the call returns to return_address. Not called for a call
    // that is left by longjmp, nor after detach().
    using Exit = void (*)(std::uint64_t ip, std::uint64_t return_address, ReturnOps* ops,
                          ReturnRegs* regs, CallData* data);

    constexpr ReturnOps(Entry at_entry, Exit at_exit, void* argument = nullptr);

    Entry entry;  // null: every call's return is wanted
    Exit exit;
};

// The callback of every ReturnOps.
void hook_call(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs);

constexpr ReturnOps::ReturnOps(Entry at_entry, Exit at_exit, void* argument)
    : Ops{.func = hook_call, .user = argument}, entry(at_entry), exit(at_exit) {}

// What arch/arm64/callback_hook.S knows.
static_assert(offsetof(ReturnRegs, sp) == 72 && sizeof(ReturnRegs) == 80);

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void hook_call(std::uint64_t, std::uint64_t, Ops*, Regs*) {}
#endif

}  // namespace nopscope

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Ops: callbacks at function entries.
///
///     void seen(std::uint64_t ip, std::uint64_t, nopscope::Ops* ops, nopscope::Regs*) {
///         ++*static_cast<std::uint64_t*>(ops->user);
///     }
///     static nopscope::Ops counter{.func = seen, .user = &count};
///     nopscope::attach(counter, nopscope::Sites::all());
///
/// A site has a set of ops. The set alone decides what the site's call reaches: nothing (the word
/// is a NOP), a direct entry, a trampoline to one callback, or a trampoline to several. An ops
/// costs nothing in a function that it does not trace. docs/ops.md has the mechanism.
#pragma once

#include "nopscope/enabled.h"

#include <cstddef>
#include <cstdint>

namespace nopscope {

/// The registers at a function's entry. A callback may change all but `sp`. It may change `pc`, so
/// that the call goes elsewhere, only with ::ops_redirects.
struct Regs {
    std::uint64_t x[9];  ///< x0 to x8. RISC-V: a0 to a7, and t2.
    std::uint64_t fp;    ///< x29. RISC-V: s0.
    std::uint64_t lr;    ///< x30, or ra: where the function will return to.
    std::uint64_t sp;    ///< The stack pointer.
    std::uint64_t pc;    ///< The function's body.
};

struct Ops;

/// A callback at a function's entry. `ip` is the function's address, `parent_ip` where it was
/// called from (its return address).
///
/// It runs on the caller's stack, in the caller's context, with interrupts as they were. It must
/// return and must not use FP or vector registers: on arm64, compile it with -mgeneral-regs-only,
/// and with -ffixed-x18 where the platform uses x18. Traced functions that it calls are not seen by
/// callbacks: the tracer stops that recursion and counts it.
using Callback = void (*)(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs);

/// Values of Ops::flags, or 0.
enum OpsFlags : std::uint32_t {
    /// The callback may change Regs::pc. A function has one such ops at most, and none beside a
    /// direct entry.
    ops_redirects = 1,
    /// Neither the callback nor what it calls ever calls a traced function, so the tracer need not
    /// stop that recursion. It saves 7 instructions a call where the ops is alone on a function.
    ops_unguarded = 2,
};

/// Your callback and its settings. It needs static storage: slots hold its address until detach()
/// has returned.
struct alignas(16) Ops {
    Callback func = nullptr;  ///< The callback. Null only with a direct entry.
    /// Address of code that the site's call reaches without a trampoline. x9 is the return address,
    /// x30 the body, x9 to x17 are free; it leaves through RET to the body. RISC-V: ra is the
    /// return address, t0 the body, t1 and t3 to t6 are free; it leaves through JR t0, and a stub
    /// and a trampoline (4 instructions) lead to it. A function has one such ops at most. 0: none.
    std::uint64_t direct = 0;
    void* user = nullptr;     ///< For the callback.
    std::uint32_t flags = 0;  ///< ::OpsFlags.
    /// How many sites it is attached to. The tracer writes this and all that follows.
    std::uint32_t sites = 0;
    Callback unguarded = nullptr;  ///< For the tracer: `func`, behind a guard if it needs one.
    void* data = nullptr;          ///< For the tracer: data of the direct entry.
};

// arch/arm64/callbacks.S relies on these offsets.
static_assert(offsetof(Ops, func) == 0 && offsetof(Ops, direct) == 8 &&
              offsetof(Ops, unguarded) == 32 && offsetof(Ops, data) == 40 && sizeof(Ops) == 48);
static_assert(offsetof(Regs, fp) == 72 && offsetof(Regs, lr) == 80 && offsetof(Regs, sp) == 88 &&
              offsetof(Regs, pc) == 96 && sizeof(Regs) == 104);

}  // namespace nopscope

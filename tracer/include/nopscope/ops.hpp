// SPDX-License-Identifier: Apache-2.0
// Ops: a tracer, and what the slot before a function points to.
//
//     void seen(std::uint64_t ip, std::uint64_t, nopscope::Ops* ops, nopscope::Regs*) {
//         ++*static_cast<std::uint64_t*>(ops->user);
//     }
//     static nopscope::Ops counter{.func = seen, .user = &count};
//     nopscope::attach(counter, nopscope::Sites::all());
//
// A site has a set of ops, and what its BL reaches follows from the set alone: nothing (NOP); one
// direct entry (BL straight to it); one callback (BL to a trampoline that finds the ops in the slot);
// several (the same, and the slot holds the site's own list). An ops that does not trace a function
// costs that function nothing.
#pragma once

#include "nopscope/enabled.h"

#include <cstddef>
#include <cstdint>

namespace nopscope {

// The registers at a function's entry. A callback may change all but sp. Changing pc makes the call
// go elsewhere: only with ops_redirects.
struct Regs {
    std::uint64_t x[9];
    std::uint64_t fp;  // x29
    std::uint64_t lr;  // where the function will return to
    std::uint64_t sp;
    std::uint64_t pc;  // the function's body
};

struct Ops;

// ip: the function's address. parent_ip: where it was called from (its return address). Runs in the
// caller's context, interrupts as they were, on the caller's stack; must not use FP or vector
// registers (compile with -mgeneral-regs-only; and with -ffixed-x18 where the platform has a use for
// x18) and must return. Traced functions that it calls are not seen by callbacks: that recursion is
// stopped and counted.
using Callback = void (*)(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs);

enum OpsFlags : std::uint32_t {
    // The callback may change regs->pc. One such ops a function, and none with a direct entry there.
    ops_redirects = 1,
    // Neither the callback nor what it calls ever calls a traced function, so nothing need stop that
    // recursion: 7 instructions a call less, where the ops is alone on a function.
    ops_unguarded = 2,
};

// Static storage: slots hold its address until detach() has returned.
struct alignas(16) Ops {
    Callback func = nullptr;  // null only with a direct entry
    // Code that the BL reaches with x9 the return address, x30 the body, x9-x17 free, and that leaves
    // through RET to the body. One such ops a function. 0: none.
    std::uint64_t direct = 0;
    void* user = nullptr;
    std::uint32_t flags = 0;
    // The tracer's own from here on.
    std::uint32_t sites = 0;        // how many it is attached to
    // What nopscope_callback_unguarded calls: takes the guard, unless `func` needs none.
    Callback unguarded = nullptr;
    void* data = nullptr;           // of the direct entry
};

// What arch/arm64/callbacks.S knows.
static_assert(offsetof(Ops, func) == 0 && offsetof(Ops, direct) == 8 &&
              offsetof(Ops, unguarded) == 32 && offsetof(Ops, data) == 40 && sizeof(Ops) == 48);
static_assert(offsetof(Regs, fp) == 72 && offsetof(Regs, lr) == 80 && offsetof(Regs, sp) == 88 &&
              offsetof(Regs, pc) == 96 && sizeof(Regs) == 104);

}  // namespace nopscope

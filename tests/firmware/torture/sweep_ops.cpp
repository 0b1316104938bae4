// SPDX-License-Identifier: Apache-2.0
// Callbacks run within traced calls: general registers only, no newlib.
#include "tests/firmware/torture/sweep_ops.hpp"

#include "hal/hal.hpp"
#include "tests/firmware/torture/registers.hpp"
#include "tests/firmware/torture/torture.hpp"

namespace torture {
namespace {

using nopscope::Ops;
using nopscope::Regs;

// All registers of the function for which they are known; for the others their relations.
bool as_called(uint64_t ip, uint64_t parent_ip, const Regs& regs, bool in_interrupt) {
    if (regs.pc <= ip || regs.pc > ip + 12 || regs.lr != parent_ip || regs.sp % 16 != 0)
        return false;
    if (in_interrupt || ip != reinterpret_cast<uint64_t>(torture_landing)) return true;
    for (unsigned n = 0; n < 9; ++n) {
        if (regs.x[n] != torture_arguments.x[n]) return false;
    }
    return regs.fp == torture_arguments.x18_to_x30[29 - 18] && regs.sp == torture_before_call.sp;
}

// Changes all registers that a callback may change: the compiler may not have.
TORTURE_INLINE void spoil_registers() {
    asm volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n mov x\\n, #-\\n\n .endr" ::
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
                       "x12", "x13", "x14", "x15", "x16", "x17", "cc", "memory");
}

void note(uint64_t ip, uint64_t parent_ip, Ops* ops, Regs* regs) {
    Seen& own = *static_cast<Seen*>(ops->user);
    const bool in_interrupt = *nopscope::hal::interrupt_depth_of(0) != 0;
    // Another task's callback may come in between.
    __atomic_fetch_add(&own.calls[in_interrupt], 1, __ATOMIC_RELAXED);
    if (!as_called(ip, parent_ip, *regs, in_interrupt)) ++own.wrong;
    spoil_registers();
}
void recur(uint64_t ip, uint64_t parent_ip, Ops* ops, Regs* regs) {
    note(ip, parent_ip, ops, regs);
    torture_leaf();
}

}  // namespace

Seen seen[all_ops];
Ops noting{.func = note, .user = &seen[0]};
Ops noting_too{.func = note, .user = &seen[1]};
Ops recurring{.func = recur, .user = &seen[2]};
Ops unguarded{.func = note, .user = &seen[3], .flags = nopscope::ops_unguarded};

}  // namespace torture

nopscope::Ops torture_far_ops, torture_bare_ops;

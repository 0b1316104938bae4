// SPDX-License-Identifier: Apache-2.0
// The trampolines of callbacks. Callbacks and the graph recorder trace the interrupts, too, so each
// case meets itself one depth up. Each callback must run exactly once for each traced call of its
// context. The line's bytes are dropped; the console is raw on the UART.
#include "tests/firmware/torture/sweep.hpp"

extern "C" {
void torture_no_landing(), torture_leaper(), torture_leaf();
// far_sites.NAME.S
void torture_far();       // calls torture_direct once
void torture_far_bare();  // an ops without a direct entry
extern const char torture_direct[];
uint64_t torture_direct_calls;
nopscope::Ops torture_far_ops, torture_bare_ops;
}

namespace torture {
namespace {

using nopscope::Ops;
using nopscope::Regs;

Path paths[] = {
    SWEEP_PATH(callback),
    SWEEP_BETWEEN("callback to direct, and recursion", callback_end, far),
    SWEEP_PATH(far),
    SWEEP_PATH(walk_list),
    SWEEP_PATH(callback_unguarded),
};
constexpr Callee callees[] = {
    {"landing", torture_landing, 1},
    {"tail", torture_tail, 2},
    {"chain", torture_chain, 3},
    {"nested", torture_nested, 2},
    {"leaping", torture_leaping, 3},
    {"far", torture_far, 1},
    {"far without a direct entry", torture_far_bare, 1},
};

// What the ops saw.
struct Seen {
    uint32_t calls[2];  // in thread context, in interrupts
    uint32_t wrong;     // with registers that differ from the call's
};
constexpr unsigned all_ops = 4;

// Callbacks run within traced calls: general registers only, no newlib. They know all registers
// of the function for which they are known; of the others their relations.
bool as_called(uint64_t ip, uint64_t parent_ip, const Regs& regs, bool in_interrupt) {
    if (regs.pc <= ip || regs.pc > ip + 12 || regs.lr != parent_ip || regs.sp % 16 != 0)
        return false;
    if (in_interrupt || ip != reinterpret_cast<uint64_t>(torture_landing)) return true;
    for (unsigned n = 0; n < 9; ++n) {
        if (regs.x[n] != torture_arguments.x[n]) return false;
    }
    return regs.fp == torture_arguments.fp() && regs.sp == torture_before_call.sp;
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

Seen seen[all_ops];
Ops noting{.func = note, .user = &seen[0]};
Ops noting_too{.func = note, .user = &seen[1]};
Ops recurring{.func = recur, .user = &seen[2]};
Ops unguarded{.func = note, .user = &seen[3], .flags = nopscope::ops_unguarded};

template <typename F>
const void* pointer(F* function) {
    return reinterpret_cast<const void*>(function);
}
// The functions that only callbacks trace if `hooked` is false.
const void* const called[] = {pointer(torture_landing), pointer(torture_no_landing),
                              pointer(torture_tail),    pointer(torture_chain),
                              pointer(torture_nested),  pointer(torture_leaping),
                              pointer(torture_leaper),  pointer(torture_leaf)};

struct Way {
    const char* name;
    Ops* attached[2];
    bool hooked;  // graph traces the callees, too: the callback continues with a direct entry
};
constexpr Way ways[] = {
    {"one callback", {&noting, nullptr}, false},
    {"two callbacks", {&noting, &noting_too}, false},
    {"an unguarded callback", {&unguarded, nullptr}, false},
    {"a callback and graph", {&noting, nullptr}, true},
    {"a callback that recurs", {&recurring, nullptr}, false},
    {"a callback that recurs, and graph", {&recurring, &noting}, true},
};
const Way* way;
uint64_t recursions_before;
uint64_t direct_before;

bool is_attached(const Ops* ops) { return way->attached[0] == ops || way->attached[1] == ops; }

void start() {
    nopscope::pump();
    for (Seen& one : seen) one = {};
    recursions_before = nopscope::counters().recursions;
    direct_before = torture_direct_calls;
}

const char* finish(const Run& run) {
    const uint32_t calls =
        run_calls + (run.abandoned ? abandoned_calls : 0) + run.callee.calls + task_calls;
    const Ops* const ops[all_ops] = {&noting, &noting_too, &recurring, &unguarded};
    for (unsigned n = 0; n < all_ops; ++n) {
        const unsigned times = is_attached(ops[n]) ? 1 : 0;
        if (seen[n].calls[0] != times * calls) return "not one callback for each call";
        if (seen[n].calls[1] != times * interrupt_calls)
            return "not one callback for each call in the interrupt";
        if (seen[n].wrong != 0) return "a callback saw other registers";
    }
    const uint64_t recursions = is_attached(&recurring) ? calls + interrupt_calls : 0;
    if (nopscope::counters().recursions - recursions_before != recursions)
        return "recursions miscounted";
    if (torture_direct_calls - direct_before != (run.callee.function == torture_far ? 1 : 0)) {
        return "not one call of the direct entry";
    }
    return nullptr;
}

void sweep_one_way(const Way& one) {
    way = &one;
    must(nopscope::enable(Recorder::graph, Sites::all()));
    if (!one.hooked) must(nopscope::disable(Sites::of(called)));
    for (Ops* ops : one.attached) {
        if (ops != nullptr) must(nopscope::attach(*ops, Sites::all()));
    }
    sweep_all(one.name, one.hooked);
    for (Ops* ops : one.attached) {
        if (ops != nullptr) must(nopscope::detach(*ops));
    }
}

int run() {
    torture_far_ops.direct = reinterpret_cast<uint64_t>(torture_direct);
    nopscope::Config config = silent_config("sweep-callbacks");
    config.interrupt_depth = hal::interrupt_depth_of;
    must(nopscope::init(config));
    start_sweep({paths, callees, start, finish});
    for (const Way& one : ways) sweep_one_way(one);
    return end_sweep();
}

}  // namespace
}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }

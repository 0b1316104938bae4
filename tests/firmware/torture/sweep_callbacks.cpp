// SPDX-License-Identifier: Apache-2.0
// The trampolines of callbacks. Callbacks and the graph recorder trace the interrupts, too, so each
// case meets itself one depth up. Each callback must run exactly once for each traced call of its
// context. The line's bytes are dropped; the console is raw on the UART.
#include "hal/hal.hpp"
#include "tests/firmware/torture/sweep.hpp"
#include "tests/firmware/torture/sweep_ops.hpp"
#include "tests/firmware/torture/torture.hpp"

// Labels in tracer/arch/arm64/callbacks.S.
extern "C" const char nopscope_callback[], nopscope_callback_end[], nopscope_far[],
    nopscope_far_end[], nopscope_walk_list[], nopscope_walk_list_end[],
    nopscope_callback_unguarded[], nopscope_callback_unguarded_end[];
extern "C" void torture_no_landing(), torture_leaper();

namespace hal = nopscope::hal;

namespace torture {
namespace {

using nopscope::Ops;
using nopscope::Recorder;
using nopscope::Sites;

Path paths[] = {
    {"callback", nopscope_callback, nopscope_callback_end},
    {"callback to direct, and recursion", nopscope_callback_end, nopscope_far},
    {"far", nopscope_far, nopscope_far_end},
    {"walk_list", nopscope_walk_list, nopscope_walk_list_end},
    {"callback, unguarded", nopscope_callback_unguarded, nopscope_callback_unguarded_end},
};
constexpr Callee callees[] = {
    {"landing", torture_landing, 1}, {"tail", torture_tail, 2},
    {"nested", torture_nested, 2},   {"leaping", torture_leaping, 3},
    {"far", torture_far, 1},         {"far without a direct entry", torture_far_bare, 1},
};

template <typename F>
const void* pointer(F* function) {
    return reinterpret_cast<const void*>(function);
}
// The functions that only callbacks trace if `hooked` is false.
const void* const called[] = {pointer(torture_landing), pointer(torture_no_landing),
                              pointer(torture_tail),    pointer(torture_nested),
                              pointer(torture_leaping), pointer(torture_leaper),
                              pointer(torture_leaf)};

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

const char* finish(const Callee& callee, bool abandoned) {
    const uint32_t calls =
        run_calls + (abandoned ? abandoned_calls : 0) + callee.calls + task_calls;
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
    if (torture_direct_calls - direct_before != (callee.function == torture_far ? 1 : 0)) {
        return "not one call of the direct entry";
    }
    return nullptr;
}

void sweep_one_way(const Way& one) {
    way = &one;
    must(nopscope::enable(Recorder::graph, Sites::all()), "enable");
    if (!one.hooked) must(nopscope::disable(Sites::of(called)), "disable");
    for (Ops* ops : one.attached) {
        if (ops != nullptr) must(nopscope::attach(*ops, Sites::all()), "attach");
    }
    sweep_all(one.name, one.hooked);
    for (Ops* ops : one.attached) {
        if (ops != nullptr) must(nopscope::detach(*ops), "detach");
    }
}

int run() {
    torture_far_ops.direct = reinterpret_cast<uint64_t>(torture_direct);
    nopscope::Config config = silent_config("sweep-callbacks");
    config.interrupt_depth = hal::interrupt_depth_of;
    must(nopscope::init(config), "init");
    start_sweep({paths, callees, start, finish});
    for (const Way& one : ways) sweep_one_way(one);
    must(nopscope::disable(Sites::all()), "disable");
    if (nopscope::counters().enabled != 0) fail(__FILE__, __LINE__);
    return end_sweep() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }

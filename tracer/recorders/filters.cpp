// SPDX-License-Identifier: Apache-2.0
// The filters: settings of all cores, and the subtree of trace_only_below().
//
// The subtree's functions have a ReturnOps. It counts their open calls in the running context
// (Core::subtree_depth) and stops the core when none is open. Its frame lies below the recorder's,
// so the function's own call is recorded with entry and return. A call that longjmp ended has no
// exit: close_unwound() counts it. Only the core itself changes `subtree_depth` and the stop
// reason, and an interrupt that changes them restores them, so they need no lock.
#include "nopscope/nopscope.hpp"
#include "nopscope/return_ops.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/here.hpp"
#include "tracer/recorders/open_calls.hpp"
#include "tracer/recorders/shadow_stack.hpp"

namespace nopscope {
namespace {

constinit Machine machine;

bool enter_subtree(std::uint64_t, std::uint64_t, ReturnOps*, Regs*, CallData*) {
    const Here here;
    Core& core = here.core();
    __atomic_store_n(&core.subtree_depth, core.subtree_depth + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if ((stops_of(core) & stopped_outside) != 0) start_core(machine, core, stopped_outside);
    return true;
}
void leave_subtree(std::uint64_t, std::uint64_t, ReturnOps*, ReturnRegs*, CallData*) {
    const Here here;
    Core& core = here.core();
    const std::uint32_t left = core.subtree_depth - 1;
    __atomic_store_n(&core.subtree_depth, left, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (left == 0) stop_core(core, stopped_outside);
}
constinit ReturnOps subtree(enter_subtree, leave_subtree);
constexpr Sites everywhere = Sites::all();  // a local one would call memset

// Runs change(core) for each core, with interrupts masked. False: a core did not answer.
template <typename Change>
bool on_each_core(Change change) {
    const auto call = [](void* argument, const Interrupted& here) {
        if (here.core < max_cores) (*static_cast<Change*>(argument))(all_cores()[here.core]);
    };
    const std::uint32_t online = machine.online_cores();
    const bool all = machine.run_on_other_cores(call, &change);
    const std::uint64_t interrupts = machine.mask_interrupts();
    for (unsigned n = 0; n < max_cores; ++n) {
        const bool others = (online >> n & 1) != 0 && n != machine.core();
        if (!others) change(all_cores()[n]);
    }
    machine.restore_interrupts(interrupts);
    return all;
}

Status end_subtree() {
    const Status status = detach(subtree, everywhere);
    if (!carried_out(status)) return status;
    const bool all = on_each_core([](Core& core) {
        core.subtree = core.subtree_depth = 0;
        if ((stops_of(core) & stopped_outside) != 0) start_core(machine, core, stopped_outside);
    });
    forget_subtree_of_contexts();
    return all ? status : Status::timeout;
}

}  // namespace

void set_min_duration(std::uint64_t ticks) {
    for (Core& core : all_cores()) __atomic_store_n(&core.min_duration, ticks, __ATOMIC_RELAXED);
}

void set_max_depth(std::uint32_t calls) {
    for (Core& core : all_cores()) {
        const Locked locked(machine, core.context_lock);
        core.max_depth = calls;
        set_shadow_end(core);
    }
}

void set_sample(std::uint32_t n) {
    for (Core& core : all_cores()) {
        __atomic_store_n(&core.sample_gap, n == 0 ? 0 : n - 1, __ATOMIC_RELAXED);
        set_sample_next(core, 0);
    }
}

Status trace_only_below(const Sites& sites) {
    if (joined_core() == nullptr) return Status::not_initialised;
    bool all =
        on_each_core([](Core& core) { core.subtree = reinterpret_cast<std::uintptr_t>(&subtree); });
    const Status status = set_filter(subtree, sites);
    if (!carried_out(status)) {
        if (subtree.sites == 0) (void)end_subtree();
        return status;
    }
    all = on_each_core([](Core& core) {
              if (core.subtree_depth == 0) stop_core(core, stopped_outside);
          }) &&
          all;
    return all ? status : Status::timeout;
}

Status trace_everywhere() {
    if (joined_core() == nullptr) return Status::not_initialised;
    return end_subtree();
}

}  // namespace nopscope

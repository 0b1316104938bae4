// SPDX-License-Identifier: Apache-2.0
#include "tracer/triggers.hpp"

#include "tracer/instance.hpp"
#include "tracer/nopscope.hpp"
#include "tracer/ring.hpp"

namespace nopscope {

void mark(std::uint32_t id) {
    Core* const core = joined_core();
    if (core == nullptr) return;
    Machine machine;
    const Locked locked(machine, core->context_lock);
    const std::uint32_t payload = (id & wire::argument_mask) << 4 |
                                  static_cast<std::uint32_t>(wire::Extended::marker);
    const wire::Record record = wire::make_record(wire::Kind::extended, payload, 0);
    // In no other context than the host takes it for.
    const std::uint64_t limit = mark_limit(*core);
    if (say_context(machine, *core, limit) && ring_put(machine, *core, record, limit)) return;
    __atomic_fetch_add(&core->dropped, 1, __ATOMIC_RELAXED);
}

void snapshot(std::uint32_t id) {
    mark(id);
    send_snapshot();
}

void count_down(std::uint64_t, std::uint64_t, Ops* ops, Regs*) {
    auto& self = *static_cast<Trigger*>(ops);
    std::uint32_t left = __atomic_load_n(&self.left, __ATOMIC_RELAXED);
    do {
        if (left == 0) return;
    } while (!__atomic_compare_exchange_n(&self.left, &left, left - 1, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    if (left != 1) return;
    switch (self.action) {
        case Action::start: return start();
        case Action::stop: return stop();
        case Action::snapshot: return snapshot(self.id);
    }
}

}  // namespace nopscope

// SPDX-License-Identifier: Apache-2.0
#include "nopscope/triggers.hpp"

#include "nopscope/nopscope.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/ring.hpp"
#include "tracer/stream/board_pump.hpp"

namespace nopscope {

void mark(std::uint32_t id) {
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr) return;
    Machine machine;
    const protocol::Record record = protocol::make_extended(protocol::Extended::marker, id);
    const auto put_mark = [&](std::uint64_t limit) {
        return ring_put(machine, *core, record, limit);
    };
    const bool put = put_in_context(machine, *core, put_mark, mark_limit);
    if (!put) add_one(core->dropped);
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

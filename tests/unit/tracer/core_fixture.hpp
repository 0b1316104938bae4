// SPDX-License-Identifier: Apache-2.0
// One core with its ring and shadow stack, and recorders in C++ that do what recorders.S does.
#pragma once

#include "tests/sim/sim_machine.hpp"
#include "tracer/shadow_stack.hpp"

#include <memory>
#include <vector>

namespace nopscope::testing {

struct CoreUnderTest {
    CoreUnderTest() {
        core.ring = reinterpret_cast<std::uintptr_t>(ring.data());
        core.cursor = core.tail = ring_bytes;
        core.pumped_clock = core.last_sync = core.last_trace_frame = machine.now;
        core.limit = 1;
        ring_set_limit(core);
        reset_shadow_stack(core, frames.data(), frames.size());
    }

    bool call(std::uint32_t site) {
        return ring_put(machine, core, wire::make_record(wire::Kind::call, site >> 3, 0), core.limit) ||
               refuse();
    }
    bool enter(std::uint32_t site, std::uint64_t sp, std::uint64_t return_address = 0x1234) {
        if (core.top == core.shadow_end) return ++core.unhooked, false;
        unwind(machine, core, sp, true);
        const std::uint64_t position = core.cursor;
        if (!ring_put(machine, core, wire::make_record(wire::Kind::entry, site >> 3, 0), core.limit)) {
            return refuse();
        }
        auto* frame = reinterpret_cast<ShadowFrame*>(core.top);
        core.top += sizeof(ShadowFrame);
        *frame = {return_address, sp, site, position};
        return true;
    }
    void leave() {
        ShadowFrame* frame = top_frame(core);
        const auto entry = static_cast<std::uint32_t>(record_index(frame->position));
        frame->sp = free_frame_sp;
        core.top = reinterpret_cast<std::uintptr_t>(frame);
        (void)ring_put(machine, core, wire::make_record(wire::Kind::ret, entry << 1, 0), no_limit);
    }
    std::size_t depth() const { return static_cast<std::size_t>(top_frame(core) - frames.data()); }

    sim::SimMachine machine{0, 64};
    std::vector<std::uint64_t> ring = std::vector<std::uint64_t>(ring_bytes / 8);
    std::vector<ShadowFrame> frames = std::vector<ShadowFrame>(shadow_frames + 1);
    Core core{};

private:
    bool refuse() {
        if (core.limit != 0) ++core.dropped;
        return false;
    }
};

}  // namespace nopscope::testing

// SPDX-License-Identifier: Apache-2.0
// Simulated text with patch sites in it, and the patcher over it.
#pragma once

#include "tests/sim/sim_machine.hpp"
#include "tracer/patcher.hpp"

#include <gtest/gtest.h>

namespace nopscope::testing {

inline constexpr Address text_base = 0x40200000;
inline constexpr std::size_t text_bytes = 0x4000;
inline constexpr Address function_entry = text_base + 0x3000;
inline constexpr Address graph_entry = text_base + 0x3080;

struct Text {
    explicit Text(sim::Options options = {}) : machine(text_base, text_bytes, options) {
        for (Address at = text_base; at < text_base + text_bytes; at += 4) {
            machine.load(at, 0xd65f03c0);  // ret
        }
        function_ops.entry = function_entry;
        graph_ops.entry = graph_entry;
    }

    // A function as the compiler leaves it, in the table too.
    PatchSite add(Address function, bool landing_pad) {
        const PatchSite site{function, landing_pad};
        for (const Address at : {function - 8, function - 4, site.mov(), site.toggle()}) {
            machine.load(at, insn::nop);
        }
        if (landing_pad) machine.load(function, insn::bti_c);
        entries.push_back(function - slot_bytes);
        return site;
    }
    // `count` functions, 32 bytes apart, every other with a landing pad.
    void add_many(unsigned count) {
        for (unsigned i = 0; i < count; ++i) placed.push_back(add(text_base + 0x40 + 32 * i, i % 2 == 0));
    }
    Refusals initialise() {
        sites.prepare(entries);
        return patcher.initialise({text_base, text_base + 0x3000});
    }
    Status set(const Ops& ops, std::uint32_t first = 0, std::uint32_t count = ~0u) {
        return patcher.set_ops(ops, [&](auto visit) {
            for (std::uint32_t i = first; i < sites.size() && i - first < count; ++i) {
                if (sites.usable(i) && !visit(i)) return;
            }
        });
    }

    sim::SimMachine machine;
    std::vector<std::uint64_t> entries;
    std::vector<PatchSite> placed;
    Ops none, function_ops, graph_ops;
    const Ops* known[3] = {&none, &function_ops, &graph_ops};
    SiteTable sites;
    Patcher<sim::SimMachine> patcher{machine, sites, known};
};

}  // namespace nopscope::testing

// SPDX-License-Identifier: Apache-2.0
// Simulated text with patch sites, and a patcher for it.
#pragma once

#include "tests/verification/simulator/sim_machine.hpp"
#include "tracer/patching/patcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <tuple>
#include <utility>

namespace nopscope::testing {

using std::tuple;

inline constexpr Address text_base = 0x40200000;
inline constexpr std::size_t text_bytes = 0x4000;
inline constexpr Address function_entry = text_base + 0x3000;
inline constexpr Address graph_entry = text_base + 0x3080;
inline constexpr Address callback_trampoline = text_base + 0x3100;
inline constexpr Address far_trampoline = text_base + 0x3180;
inline constexpr Address unguarded_trampoline = text_base + 0x3200;

// Neither a site's word nor a compiled one.
inline constexpr std::uint32_t other_instruction = 0xd65f03c0;

#ifdef NOPSCOPE_SIMULATED_RISCV
inline constexpr std::uint32_t unset_word = 0x0001'0001;  // two C.NOPs
inline constexpr unsigned words_at_boot = 2;              // of a site
inline constexpr bool maintains_lines = false;
inline constexpr Address far_entry = text_base + 0x3300;  // no stub jumps there
inline PatchSite site_at(Address function, bool) { return {function}; }
template <typename M>
void load_landing_pad(M&, const PatchSite&) {}
inline const Address stub_targets[arch::stub_count] = {
    callback_trampoline, unguarded_trampoline, far_trampoline,       function_entry,
    graph_entry,         graph_entry + 0x40,   function_entry + 0x40};
inline void place_stubs() { arch::simulated_stubs = {text_base + 0x3800, stub_targets}; }
#else
inline constexpr std::uint32_t unset_word = arch::idle_word;
inline constexpr unsigned words_at_boot = 1;
inline constexpr bool maintains_lines = true;
inline constexpr Address far_entry = text_base + 2 * arch::call_reach;
inline PatchSite site_at(Address function, bool landing_pad) { return {function, landing_pad}; }
template <typename M>
void load_landing_pad(M& machine, const PatchSite& site) {
    if (site.landing_pad) machine.load(site.function, arch::landing_pad);
}
inline void place_stubs() {}
#endif

inline void no_callback(std::uint64_t, std::uint64_t, Ops*, Regs*) {}
inline void a_callback(std::uint64_t, std::uint64_t, Ops*, Regs*) {}

template <typename M>
struct TextOn {
    explicit TextOn(sim::Options options = {}) : machine(text_base, text_bytes, options) {
        for (Address at = text_base; at < text_base + text_bytes; at += 4)
            machine.load(at, other_instruction);
        place_stubs();
        function_ops.direct = function_entry;
        graph_ops.direct = graph_entry;
        far_ops.direct = far_entry;
        callback_ops.func = other_callback_ops.func = a_callback;
        patcher.set_trampolines({callback_trampoline, unguarded_trampoline, far_trampoline});
    }

    // Adds a function to the text as the compiler leaves it, and to the table.
    PatchSite add(Address function, bool landing_pad) {
        const PatchSite site = site_at(function, landing_pad);
        for (const Address at : {function - 8, function - 4, site.setup(), site.toggle()})
            machine.load(at, unset_word);
        load_landing_pad(machine, site);
        entries.push_back(function - slot_bytes);
        return site;
    }
    unsigned writes() const { return machine.word_writes + machine.slot_writes; }
    // Adds `count` functions, 32 bytes apart. Every other one has a landing pad, if any has.
    void add_many(unsigned count) {
        for (unsigned i = 0; i < count; ++i)
            placed.push_back(add(text_base + 0x40 + 32 * i, i % 2 == 0));
    }
    Refusals initialise() {
        sites.prepare(entries);
        return patcher.initialise({text_base, text_base + 0x3000});
    }
    Status change(Ops* add, Ops* remove, std::uint32_t first = 0, std::uint32_t count = ~0u) {
        const PerSiteOps gone[] = {{.first = remove}};
        Change change;
        if (add != nullptr) change.add = PerSiteOps::of(*add);
        if (remove != nullptr) change.remove = gone;
        return this->change(change, first, count);
    }
    Status change(const Change& change, std::uint32_t first = 0, std::uint32_t count = ~0u) {
        return this->change(change, Runs{{first, first + std::min(count, sites.size() - first)}});
    }
    using Runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // first site, end
    Status change(const Change& change, const Runs& runs) {
        const auto for_each_run = [&](auto visit) {
            std::all_of(runs.begin(), runs.end(),
                        [&](const auto& run) { return visit(run.first, run.second); });
        };
        return patcher.change(change, for_each_run, [&] {
            ++synchronized;
            if constexpr (requires { machine.synchronize(); }) machine.synchronize();
            return quiescent;
        });
    }

    Ops& object(std::uint32_t index) {
        return *reinterpret_cast<Ops*>(machine.read_slot(sites.function(index) - slot_bytes));
    }
    std::uint32_t word(std::uint32_t index) {
        return machine.fetch(1, patch_site(machine, sites.function(index)).toggle());
    }
    std::uint32_t call(std::uint32_t index, Address target) {
        return *arch::call_at(patch_site(machine, sites.function(index)).toggle(), target);
    }
    std::vector<Ops*> ops_of(std::uint32_t index) {
        std::vector<Ops*> all;
        patcher.for_each_ops(index, [&](Ops& ops) { all.push_back(&ops); });
        return all;
    }

    M machine;
    std::vector<std::uint64_t> entries;
    std::vector<PatchSite> placed;
    Ops none{.func = no_callback};
    Ops function_ops, graph_ops, far_ops, callback_ops, other_callback_ops;
    unsigned synchronized = 0;
    bool quiescent = true;  // false: synchronize gives up
    SiteTable sites;
    Patcher<M> patcher{machine, sites, none};
};
using Text = TextOn<sim::SimMachine>;

struct IdleSites : Text {
    explicit IdleSites(unsigned count = 10, sim::Options options = {}) : Text(options) {
        add_many(count);
        initialise();
    }
};

inline std::uint64_t slot_of(const Ops& object) {
    return reinterpret_cast<std::uintptr_t>(&object);
}

}  // namespace nopscope::testing

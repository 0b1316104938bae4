// SPDX-License-Identifier: Apache-2.0
// A CallDecoder and the list of calls that it reports.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "host-tools/analysis/profile/call_decoder.hpp"

namespace nopscope::host::test {

struct Closed {
    std::uint32_t site = 0;
    Outcome outcome{};
    bool incomplete = false;
    std::uint64_t ticks = 0;
    std::uint64_t self = 0;
    std::uint32_t parent = 0;  // site of the node above; 0 for none, 999 for a gap
};

// Sites stand for functions. Nodes are numbered paths.
struct Calls {
    Begun on_entry(std::uint32_t parent, std::uint32_t offset) {
        nodes.push_back({parent, offset / 8});
        ++calls[offset / 8];
        return {{offset / 8, static_cast<std::uint32_t>(nodes.size() + 1)}, totals[offset / 8]};
    }
    std::uint32_t gap_node() const { return 1; }
    MemoryBudget& budget() { return room; }
    void on_call_only(std::uint32_t parent, std::uint32_t offset) { on_entry(parent, offset); }
    void on_complete_call(std::uint32_t, Ticks, const Durations::Inside&) {}
    void on_tracer_time(std::uint32_t node, std::uint32_t instructions) {
        instructions_beside[node] += instructions;
    }
    std::uint32_t on_path(std::uint32_t, std::uint32_t, const Durations::Sum&) { return 2; }
    bool leaves_out_short = false;
    bool on_cpu = false;
    bool leaves_out(const OpenCall&, Ticks, Outcome) { return false; }
    bool leaves_out_complete(Ticks) { return false; }
    void on_exit(const OpenCall& call, const ClosedCall& result) {
        totals[call.path.function] = call.total_before + result.ticks;
        const std::uint32_t above = nodes[call.path.node - 2].first;
        const std::uint32_t parent = above == 0 ? 0 : above == 1 ? 999 : nodes[above - 2].second;
        list.push_back({call.path.function, result.outcome, result.incomplete, result.ticks,
                        result.self_ticks, parent});
    }

    MemoryBudget room;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> nodes;
    std::map<std::uint32_t, std::uint32_t> instructions_beside;  // by node
    std::map<std::uint32_t, std::uint64_t> totals;
    std::map<std::uint32_t, std::uint64_t> calls;
    std::vector<Closed> list;
};

class Decoder : public testing::Test {
protected:
    std::uint64_t entry(std::uint32_t site, std::uint64_t at) {
        decoder.on_event(
            {.kind = protocol::Kind::entry, .site_offset = site * 8, .index = next, .clock = at});
        return next++;
    }
    void call(std::uint32_t site, std::uint64_t at) {
        decoder.on_event(
            {.kind = protocol::Kind::call, .site_offset = site * 8, .index = next++, .clock = at});
    }
    void ret(std::uint64_t entry, std::uint64_t at, bool unwound = false) {
        decoder.on_event(
            {.kind = protocol::Kind::ret,
             .unwound = unwound,
             .entry_index = static_cast<std::uint32_t>(entry) & protocol::entry_index_mask,
             .index = next++,
             .clock = at});
    }
    void extended(protocol::Extended what, std::uint64_t at, std::uint32_t argument = 0) {
        decoder.on_event({.kind = protocol::Kind::extended,
                          .extended = what,
                          .argument = argument,
                          .index = next++,
                          .clock = at});
    }
    void gap(std::uint64_t records) {
        next += records;
        decoder.on_gap();
    }
    void expect(std::size_t at, std::uint32_t site, Outcome outcome, std::uint64_t ticks,
                std::uint64_t self) {
        ASSERT_LT(at, calls.list.size());
        EXPECT_EQ(calls.list[at].site, site);
        EXPECT_EQ(calls.list[at].outcome, outcome);
        EXPECT_EQ(calls.list[at].ticks, ticks);
        EXPECT_EQ(calls.list[at].self, self);
    }

    Calls calls;
    CallDecoder<Calls> decoder{calls};
    std::uint64_t next = 0;
};

}  // namespace nopscope::host::test

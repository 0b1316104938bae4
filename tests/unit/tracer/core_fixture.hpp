// SPDX-License-Identifier: Apache-2.0
// Cores with their rings and shadow stacks, and recorders in C++ that work as recorders.S does.
#pragma once

#include "tests/verification/simulator/sim_machine.hpp"
#include "tracer/recorders/shadow_stack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>

namespace nopscope::testing {

using protocol::Extended, protocol::Kind, protocol::Record;
using protocol::make_extended, protocol::make_record;
using std::tuple;

inline constexpr std::uint64_t slots = ring_bytes / record_bytes;

struct CoreUnderTest {
    static constexpr std::uint64_t stack_high = 0x10000;

    explicit CoreUnderTest(unsigned count = 1) : cores(count), memory(count) {
        for (unsigned i = 0; i < count; ++i) {
            Core& one = cores[i];
            one.ring = reinterpret_cast<std::uintptr_t>(memory[i].ring.data());
            one.cursor = one.tail = ring_bytes;
            one.pumped_clock = one.last_sync = one.last_trace_frame = machine.now;
            one.seen_clock = machine.now;
            one.seen = ring_bytes;
            one.limit = 1;
            one.reserve = return_reserve_bytes;
            ring_set_limit(machine, one);
            reset_shadow_stack(one, memory[i].frames.data(), memory[i].frames.size(), stack_high);
        }
    }

    // The functions below act on the running core: machine.current, by default 0.
    Core& here() { return cores[machine.current]; }
    bool put(const Record& record, std::uint64_t limit = no_limit) {
        return ring_put(machine, here(), record, limit);
    }
    bool call(std::uint32_t site) {
        return put(make_record(Kind::call, site >> 3, 0), here().limit) || refuse();
    }
    void calls(unsigned count, std::uint32_t site = 0x2000) {
        while (count-- > 0) (void)call(site);
    }
    // The record with this index, which must be written.
    Record at(std::uint64_t index) const {
        return ring_peek(core, ring_bytes + index * record_bytes).value();
    }
    void start() {
        here().limit = 1;
        ring_set_limit(machine, here());
    }
    void fill() {
        while (call(0x2000)) {
        }
    }
    // Puts the tracer's own records until they have no room either. Returns how many.
    unsigned fill_own() {
        unsigned count = 0;
        while (put_own(machine, here(), Extended::sync)) ++count;
        return count;
    }
    void push(const ShadowFrame& frame) {
        *reinterpret_cast<ShadowFrame*>(here().top) = frame;
        here().top += sizeof(ShadowFrame);
    }
    bool enter(std::uint32_t site, std::uint64_t sp, std::uint64_t return_address = 0x1234) {
        if (here().top == here().shadow_end) return ++here().shadow_stack_full, false;
        unwind(machine, here(), sp, true);
        const std::uint64_t position = here().cursor;
        if (!put(make_record(Kind::entry, site >> 3, 0), here().limit)) return refuse();
        push({return_address, sp, hook_address(Hook::graph), position, {}});
        return true;
    }
    void leave() {
        ShadowFrame* frame = top_frame(here());
        const auto entry = static_cast<std::uint32_t>(record_index(frame->position));
        frame->sp = free_frame_sp;
        here().top = reinterpret_cast<std::uintptr_t>(frame);
        (void)put(make_record(Kind::ret, entry << 1, 0));
    }
    std::size_t depth() const {
        return static_cast<std::size_t>(top_frame(core) - memory[0].frames.data());
    }

    struct Memory {
        alignas(64) std::array<std::uint64_t, ring_bytes / 8> ring{};  // whole cache lines
        std::vector<ShadowFrame> frames = std::vector<ShadowFrame>(shadow_frames + 1);
    };

    sim::SimMachine machine{0, 64};
    std::vector<Core> cores;
    std::vector<Memory> memory;
    Core& core = cores[0];

private:
    bool refuse() {
        if (here().limit != 0 && here().lossless == 0) ++here().dropped;
        return false;
    }
};

struct CoreTest : ::testing::Test, CoreUnderTest {
    using CoreUnderTest::CoreUnderTest;
};

}  // namespace nopscope::testing

// SPDX-License-Identifier: Apache-2.0
// A pump that keeps its header for a warm reset, and the boot after it.
#pragma once

#include "tests/unit/tracer/pump_fixture.hpp"

#include <set>

namespace nopscope::testing {

inline constexpr std::uint32_t first_site = 0x2000, site_end = 0x4000;

// The site of the call with this record index. As in an image, distances are irregular.
inline std::uint64_t site_of_call(std::uint64_t index) {
    return first_site + 8 * (index % 300 * 37 % 1021);
}

class WarmReset : public PumpTest {
protected:
    WarmReset() {
        config.output.try_write = try_write;
        config.clock_hz = hz;
        config.mode = Mode::flight;
        kept.session = 6;
        begin_keeping(machine, kept, image);
        pump.open(config, hello, 7, &kept);
    }
    void make(unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            const std::uint64_t index = record_index(core.cursor);
            call(site_of_call(index));
        }
    }
    // A second passes, and the pump runs: it writes the header.
    void keep() {
        machine.now += hz;
        pump.run();
    }
    // Whether the line of `address` was cleaned since the test cleared `poc_cleans`.
    bool is_cleaned(std::uint64_t address) {
        return machine.poc_cleans.contains(address & ~std::uint64_t{63});
    }
    void expect_cleaned(std::uint64_t address, std::uint64_t bytes) {
        for (std::uint64_t at = 0; at < bytes; at += 8) ASSERT_TRUE(is_cleaned(address + at)) << at;
    }
    // Simulates the next boot, which has only the ring and the header.
    Received boot() {
        line_bytes.clear();
        send_what_is_left();
        if (!line_bytes.empty()) {
            EXPECT_EQ(line_bytes.front(), 0);  // it ends the frame that the reset cut off
            line_bytes.erase(line_bytes.begin());
        }
        return receive();
    }
    Recovered recovered(const WarmResetImage& by) {
        clear(next);
        return recover(
            kept, by, &next, [&](unsigned) { return core.ring; },
            [this](std::uint32_t low) { return sites.contains(low); });
    }
    void send_what_is_left() {
        found = recovered(image);
        if (found.records == 0) return;
        const auto its_encoder = std::make_unique<protocol::TraceEncoder>();
        Pump<sim::SimMachine> booted{machine, {&next, 1}, its_encoder.get()};
        booted.send_recovered(config, hello, kept);
    }
    // `holes`: slots behind `end` that were claimed, but not written.
    void expect_true(const Received& received, std::uint64_t end, unsigned holes = 0) {
        ASSERT_FALSE(received.events.empty());
        for (const protocol::Event& event : without_own(received.events))
            ASSERT_EQ(event.site_offset, site_of_call(event.index) - 0x1000) << event.index;
        EXPECT_EQ(received.events.back().index, end - 1);
        ASSERT_EQ(received.hellos.size(), 1u);
        EXPECT_TRUE(received.hellos[0].recovered);
        EXPECT_TRUE(received.hellos[0].flight);
        const protocol::Stats last = received.stats.back();
        EXPECT_EQ(last.final, 1u);
        EXPECT_EQ(last.generated, end + holes);
        EXPECT_EQ(last.delivered, received.events.size());
    }

    std::set<std::uint64_t> sites = [] {
        std::set<std::uint64_t> all;
        for (unsigned index = 0; index < 300; ++index) all.insert(site_of_call(index));
        return all;
    }();
    WarmResetHeader kept{};
    const WarmResetImage image{1, 2, 1, hz};
    std::vector<Core> next_core = std::vector<Core>(1);
    Core& next = next_core[0];
    Recovered found{};
};

}  // namespace nopscope::testing

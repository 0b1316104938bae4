// SPDX-License-Identifier: Apache-2.0
// The profile recorder in C++: its memory, skipped calls, the tracer's own time, the read-out.
#include "tests/unit/tracer/pump_fixture.hpp"
#include "tracer/recorders/profile_sender.hpp"

namespace nopscope::testing::profile_test {

constexpr std::uint64_t entry_address = 0x4000;

struct Clock : sim::SimMachine {
    Clock() : SimMachine(0, 64) { ticks_per_read = 0; }
};

struct Cells {
    Cells(std::uint32_t sites, unsigned cores)
        : bytes(ProfileMemory::bytes(sites, cores) + 8, std::byte{0xa5}) {
        EXPECT_TRUE(memory.open(std::span(bytes).subspan(8), sites, cores));
    }
    std::vector<std::byte> bytes;
    ProfileMemory memory;
};

TEST(ProfileMemory, GivesEachSiteAnOpsAndEachCoreACell) {
    ProfileMemory small;
    std::vector<std::byte> bytes(ProfileMemory::bytes(7, 3) - 1);
    EXPECT_FALSE(small.open(bytes, 7, 3));
    EXPECT_FALSE(small.is_open());
    Cells of(7, 3);
    const PerSiteOps family = of.memory.family(entry_address);
    ASSERT_EQ(family.count, 7u);
    const auto* const end = of.bytes.data() + of.bytes.size();
    for (std::uint32_t site = 0; site < 7; ++site) {
        EXPECT_EQ(family.at(site)->direct, entry_address);
        EXPECT_EQ(family.at(site)->func, nullptr);
        for (unsigned core = 0; core < 3; ++core) {
            ProfileCell& cell = of.memory.cell(core, site);
            // The recorder computes this address.
            EXPECT_EQ(
                reinterpret_cast<std::uintptr_t>(family.at(site)->data) + of.memory.distance(core),
                reinterpret_cast<std::uintptr_t>(&cell.total));
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&cell.total) % 16, 0u);  // for LDXP
            EXPECT_LE(reinterpret_cast<std::byte*>(&cell + 1), end);
            EXPECT_EQ(cell.total | cell.self | cell.max | ~cell.min, 0u);
            for (const std::uint64_t bin : cell.bins) EXPECT_EQ(bin, 0u);
            cell.total = core + 10 * site;
        }
    }
    for (std::uint32_t n = 0; n < 7 * 3; ++n)
        EXPECT_EQ(of.memory.cell(n % 3, n / 3).total, n % 3 + 10 * (n / 3));
    of.memory.cell(1, 1).total = 5;
    (void)of.memory.family(entry_address);  // it clears the memory only once
    EXPECT_EQ(of.memory.cell(1, 1).total, 5u);
}

TEST(ProfileCell, ABinForEachNumberOfBits) {
    ProfileCell cell{};
    ++cell.bins[ProfileCell::bin_of(0)];
    EXPECT_EQ(cell.count(0), 1u);
    for (unsigned bits = 1; bits < protocol::profile_bins; ++bits) {
        ++cell.bins[ProfileCell::bin_of(std::uint64_t{1} << (bits - 1))];
        ++cell.bins[ProfileCell::bin_of((std::uint64_t{1} << bits) - 1)];
        EXPECT_EQ(cell.count(bits), 2u) << bits;
    }
}

TEST(ProfileInstant, AnInterruptIsOnOneSideOfIt) {
    Clock machine;
    Core core{};
    core.profiled = 7;
    machine.now = 1000;
    bool came = false;
    machine.on_clock = [&] {
        if (std::exchange(came, true)) return;
        machine.now += 100;
        core.profiled += 40;
    };
    const ProfileInstant at = profile_instant(
        machine, core, [](const ProfileInstant& now) { return now.profiled + now.clock; });
    EXPECT_EQ(tuple(at.clock, at.profiled, core.profiled), tuple(1100u, 47u, 47u + 1100));
}

TEST(TracerWork, TimeIsInNobodysSelf) {
    Clock machine;
    Core core{};
    core.profiled = 50;
    {
        const TracerWork work(machine, std::span(&core, 1), TracerWork<Clock>::Mark::no);
        machine.now += 30;
        core.profiled += 10;  // a profiled interrupt
    }
    EXPECT_EQ(core.profiled, 50u + (30 << profiled_shift));  // once, as the tracer's time
}

struct ProfileUnwind : CoreTest {
    void profiled(std::uint32_t site, std::uint64_t sp) {
        const auto cell = reinterpret_cast<std::uintptr_t>(&cells.memory.cell(0, site).total);
        push({0x1234, sp, hook_address(Hook::profile), cell, {machine.now, here().profiled}});
    }
    static constexpr std::uint64_t cost = 700;  // not a whole number of ticks
    ProfileUnwind() {
        (void)cells.memory.family(entry_address);
        core.profile_cost = cost;
    }
    static std::uint64_t fixed(std::uint64_t ticks) { return ticks << profiled_shift; }
    Cells cells{4, 1};
};

TEST_F(ProfileUnwind, SkippedCallsEndInnermostFirst) {
    profiled(0, 0x9000);
    machine.now += 10;
    enter(0x2000, 0x8800);  // a call of the graph recorder in between
    profiled(1, 0x8000);
    machine.now += 5;
    profiled(2, 0x7000);
    machine.now += 3;
    core.profiled += fixed(2) + cost;  // a call in the innermost one ended
    const std::uint64_t records = core.cursor;
    unwind(machine, core, 0x8900, false);
    EXPECT_EQ(depth(), 1u);
    EXPECT_EQ(core.cursor, records + record_bytes);
    const ProfileCell &inner = cells.memory.cell(0, 2), &outer = cells.memory.cell(0, 1);
    // Each self time contains the call's own cost once too often.
    EXPECT_EQ(inner.self, fixed(inner.total - 2) - cost + cost);
    EXPECT_EQ(outer.self, fixed(outer.total - inner.total) - cost + cost);
    EXPECT_GE(outer.total, inner.total + 5);
    EXPECT_EQ(core.profiled, fixed(outer.total) + cost);
    EXPECT_EQ(inner.self_ticks(1, cost),
              static_cast<std::int64_t>(inner.total) - 2 - 3);  // 700 are 2.7 ticks
    EXPECT_EQ(tuple(inner.min, inner.max, inner.bins[ProfileCell::bin_of(inner.total)]),
              tuple(inner.total, inner.total, 1u));
    EXPECT_EQ(cells.memory.cell(0, 0).total, 0u);  // still open
}

struct ReadOut : PumpTest {
    static constexpr std::uint32_t count = 200;
    static constexpr unsigned core_count = 2;
    ReadOut() : PumpTest(core_count), entries(count) {
        for (std::uint32_t i = 0; i < count; ++i) entries[i] = 0x2000 + 24 * i;
        sites.prepare(entries);
        sender.open(0x1000, 0, machine.now);
        (void)cells.memory.family(entry_address);
        open_all();
    }
    void add(unsigned core, std::uint32_t site, std::uint64_t ticks) {
        ProfileCell& cell = cells.memory.cell(core, site);
        cell.total += ticks;
        cell.self += (ticks / 2 << profiled_shift) + cells.memory.cost();
        cell.min = std::min(cell.min, ticks);
        cell.max = std::max(cell.max, ticks);
        ++cell.bins[ProfileCell::bin_of(ticks)];
    }
    struct Found {
        std::map<std::pair<unsigned, std::uint32_t>, protocol::ProfileEntry> entries;  // core, site
        std::size_t times = 0;  // how often an entry came
        std::vector<std::pair<unsigned, protocol::ProfileHeader>> parts;
    };
    static Found found_in(const Received& received) {
        Found result;
        for (const auto& [core, payload] : received.profiles) {
            protocol::ProfileReader in(payload.data(), payload.size());
            result.parts.emplace_back(core, in.header());
            for (protocol::ProfileEntry entry; in.next(entry);) {
                const std::uint32_t site = (entry.site_offset + 0x1000 - 0x2008) / 24;
                ++result.times;
                result.entries[{core, site}] = entry;
            }
            EXPECT_TRUE(in.ok());
        }
        return result;
    }
    Found flushed() {
        profiling.flush();
        return found_in(receive());
    }
    Found requested() {
        sender.request();
        return flushed();
    }
    std::vector<std::uint64_t> entries;
    SiteTable sites;
    Cells cells{count, core_count};
    ProfileSender sender{cells.memory, sites};
    Pump<sim::SimMachine, ProfileSender> profiling{machine, std::span<Core>(cores), encoders.get(),
                                                   &sender};
    void open_all(std::uint64_t period = 0) {
        open();
        profiling.open(config, hello, 7);
        sender.open(0x1000, period, machine.now);
    }
};

TEST_F(ReadOut, HasEachFunctionThatWasCalledOnce) {
    for (std::uint32_t site = 0; site < count; site += 3) add(0, site, 1000 + site);
    for (std::uint32_t site = 5; site < count; ++site) add(1, site, site);
    EXPECT_TRUE(flushed().parts.empty());  // nothing was requested
    const Found all = requested();
    EXPECT_EQ(all.entries.size(), (count + 2) / 3 + count - 5);
    EXPECT_EQ(all.times, all.entries.size());
    for (const auto& [key, entry] : all.entries) {
        const std::uint64_t ticks = key.first == 0 ? 1000 + key.second : key.second;
        EXPECT_EQ(tuple(entry.total, entry.self, entry.min, entry.max, entry.calls(),
                        entry.bins[ticks == 0 ? 0 : 64 - __builtin_clzll(ticks)]),
                  tuple(ticks, static_cast<std::int64_t>(ticks / 2), ticks, ticks, 1u, 1u));
    }
    ASSERT_GT(all.parts.size(), 2u);
    unsigned core = 0;
    std::uint64_t part = 0;
    for (const auto& [of, header] : all.parts) {
        EXPECT_EQ(tuple(of, header.part, header.number), tuple(core, part++, 1u));
        if (header.last) ++core, part = 0;
    }
    EXPECT_EQ(core, core_count);
}

// A self time contains neither the callees' cost nor the function's own. It is rounded once.
TEST_F(ReadOut, SelfIsWithoutTheCalleesCost) {
    for (const std::uint64_t cost : {0u, 1u, 255u, 256u, 2817u}) {
        cells.memory.set_cost(cost);
        ProfileCell& cell = cells.memory.cell(0, 0);
        cell = {};
        cell.self = (std::uint64_t{5000} << profiled_shift) + 7 * cost -
                    100 * cost;  // 7 calls made 100 calls
        cell.bins[20] = 4;
        cell.bins[33] = 3;
        const double exact = 5000.0 - 100.0 * static_cast<double>(cost) / protocol::overhead_unit;
        EXPECT_NEAR(static_cast<double>(cell.self_ticks(7, cost)), exact, 0.5) << cost;
        open_all();
        const Found all = requested();
        EXPECT_EQ((all.entries.at({0, 0}).self), cell.self_ticks(7, cost)) << cost;
        EXPECT_EQ((all.entries.at({0, 0}).calls()), 7u);
    }
}

TEST_F(ReadOut, AFunctionWithAllBinsFits) {
    for (std::uint32_t site = 0; site < count; ++site) {
        ProfileCell& cell = cells.memory.cell(0, site);
        cell.min = 0;
        cell.total = cell.self = cell.max = ~std::uint64_t{0};
        for (std::uint64_t& bin : cell.bins) bin = ~std::uint64_t{0};
    }
    EXPECT_EQ(requested().entries.size(), count);
}

TEST_F(ReadOut, ARequestDuringOneIsForAnother) {
    for (std::uint32_t site = 0; site < count; ++site) add(0, site, 9);
    sender.request();
    Byte payload[protocol::max_payload_bytes];
    ASSERT_TRUE(sender.waits());
    (void)sender.next(machine.now, payload);
    const Found rest = requested();
    ASSERT_FALSE(rest.parts.empty());
    EXPECT_EQ(rest.parts.front().second.number, 1u);
    EXPECT_EQ(rest.parts.back().second.number, 2u);
    EXPECT_TRUE(rest.parts.back().second.last);
    EXPECT_FALSE(sender.waits());
}

TEST_F(ReadOut, ComesByItselfWhenThePeriodIsOver) {
    open_all(1000);
    add(0, 3, 4);
    const auto parts = [&](std::uint64_t after) {
        machine.now += after;
        profiling.run();
        return found_in(receive()).parts.size();
    };
    EXPECT_EQ(parts(0), 0u);
    EXPECT_EQ(parts(1000), core_count);
    EXPECT_EQ(parts(0), 0u);
    // A flush that takes longer than the period still ends.
    machine.now += 1000;
    machine.ticks_per_read = 600;
    EXPECT_TRUE(flushed().parts.empty());
    EXPECT_EQ(parts(0), core_count);
}

TEST_F(ReadOut, IsTheLastButTheStats) {
    add(1, 3, 4);
    profiling.finish();
    const Received all = receive();
    EXPECT_EQ(found_in(all).entries.size(), 1u);
    for (std::size_t i = 0; i < all.headers.size(); ++i) {
        const bool is_final = i >= all.headers.size() - core_count;
        const bool is_profile = i >= all.headers.size() - 2 * core_count && !is_final;
        EXPECT_EQ(all.headers[i].stream == Stream::profile, is_profile) << i;
    }
}

}  // namespace nopscope::testing::profile_test

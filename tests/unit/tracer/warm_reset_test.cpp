// SPDX-License-Identifier: Apache-2.0
// What a warm reset leaves in rings and header, and what the next boot makes of it.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope::testing::warm_reset_test {

constexpr std::uint32_t first_site = 0x2000, site_end = 0x4000;

// The site of the call with this record index. As in an image, distances are irregular.
std::uint64_t site_of_call(std::uint64_t index) {
    return first_site + 8 * (index % 300 * 37 % 1021);
}

struct WarmReset : PumpTest {
    WarmReset() {
        config.output.try_write = try_write;
        config.clock_hz = hz;
        config.mode = Mode::flight;
        kept.session = 6;
        begin_keeping(machine, kept, image);
        pump.open(config, hello, 7, &kept);
    }
    void make(unsigned count) {
        while (count-- > 0) call(site_of_call(record_index(core.cursor)));
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
        return first_cut_off();
    }
    // The line begins with the end of a frame that the reset cut off.
    static Received first_cut_off() {
        if (line_bytes.empty()) return {};
        EXPECT_EQ(line_bytes.front(), 0);
        line_bytes.erase(line_bytes.begin());
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
        for (const Event& event : without_own(received.events))
            ASSERT_EQ(event.site_offset, site_of_call(event.index) - 0x1000) << event.index;
        EXPECT_EQ(received.events.back().index, end - 1);
        ASSERT_EQ(received.hellos.size(), 1u);
        EXPECT_TRUE(received.hellos[0].recovered);
        EXPECT_TRUE(received.hellos[0].flight);
        const Stats last = received.stats.back();
        EXPECT_EQ(tuple(last.final, last.generated, last.delivered),
                  tuple(1u, end + holes, received.events.size()));
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

TEST_F(WarmReset, WholeLapsSinceTheHeader) {
    for (const unsigned count : {1u, 10u, 100u, 500u, 2500u, 20000u}) {
        for (const unsigned laps : {0u, 1u, 2u, 3u, 4u, 15u, 62u}) {
            SCOPED_TRACE(::testing::Message() << count << ", " << laps);
            make(count);
            keep();
            make(laps * slots + 200);  // after the last header
            const std::uint64_t end = record_index(core.cursor);
            const std::uint64_t clock = machine.now;
            const Received received = boot();
            expect_true(received, end);
            EXPECT_EQ(tuple(received.events.back().clock, found.refused, found.records),
                      tuple(clock, 0u, received.events.size()));
            EXPECT_GE(found.records, std::min<std::uint64_t>(end, slots) - 1);
        }
    }
}

// In any lap, each call's record decodes to some site.
TEST_F(WarmReset, ReturnsTellTheLapWhereCallsDoNot) {
    for (std::uint64_t site = first_site; site < site_end; site += 8) sites.insert(site);
    for (const unsigned laps : {0u, 1u, 2u, 15u, 62u}) {
        keep();
        const std::uint64_t before = core.cursor;
        while (core.cursor < before + laps * ring_bytes + 200 * record_bytes) {
            ASSERT_TRUE(enter(first_site, 0x8000));
            leave();
        }
        const std::uint64_t end = record_index(core.cursor);
        const Received received = boot();
        ASSERT_FALSE(received.events.empty());
        EXPECT_EQ(received.events.back().index, end - 1);
        for (const Event& event : without_own(received.events)) {
            if (event.kind != Kind::entry) continue;
            ASSERT_EQ(event.site_offset, first_site - 0x1000) << event.index;
        }
    }
}

TEST_F(WarmReset, WhatWasAnnouncedIsAllInMemory) {
    make(5000);
    machine.poc_cleans.clear();
    pump.prepare_reset();
    expect_cleaned(core.ring, ring_bytes);
    expect_cleaned(reinterpret_cast<std::uintptr_t>(&kept), sizeof kept);
}

TEST_F(WarmReset, ThePumpCleansWhatIsNewABoundedPieceAtATime) {
    make(slots * 3 / 4);
    machine.poc_cleans.clear();
    keep();
    const std::size_t once = machine.poc_cleans.size();
    EXPECT_GE(once, 8u);
    EXPECT_LE(once, 4096 / 64 + 2 + sizeof kept / 64 + 1);
    for (int i = 0; i < 20; ++i) pump.run();
    expect_cleaned(core.ring, ring_bytes * 3 / 4);
}

// Both a header and records of the boot before are in memory.
TEST_F(WarmReset, ABootThatKeepsNothingLeavesNothingToFind) {
    make(500);
    pump.prepare_reset();
    ASSERT_TRUE(is_whole(kept, image));
    machine.poc_cleans.clear();
    keep_number_only(machine, kept, 20);
    EXPECT_EQ(machine.poc_cleans, std::set<Address>{reinterpret_cast<std::uintptr_t>(&kept)});
    pump.open(config, hello, 20, nullptr);
    make(500);
    keep();
    pump.prepare_reset();
    EXPECT_EQ(machine.poc_cleans.size(), 1u);
    EXPECT_TRUE(boot().events.empty());
    EXPECT_EQ(found.records + found.refused + found.headers_refused, 0u);
    EXPECT_TRUE(is_after_reset(kept));
    EXPECT_EQ(session_after(kept, machine.now), 21u);
}

TEST_F(WarmReset, ALineThatGoesOnIsCleanedAgain) {
    make(3);
    for (int i = 0; i < 5; ++i) pump.run();              // cleans the whole ring
    while (core.cleaned % 64 == 0) make(1), pump.run();  // until the end lies inside a line
    const auto slot = reinterpret_cast<std::uintptr_t>(ring_slot(core, core.cleaned));
    machine.poc_cleans.clear();
    make(1);
    pump.run();
    EXPECT_TRUE(is_cleaned(slot));
}

// After an unannounced reset, the header covers all frames sent, and is never half written.
TEST_F(WarmReset, TheHeaderIsUpToDateWheneverAFrameWasSent) {
    pump.set_mode(Mode::stream);
    for (unsigned frame = 0; frame < 2; ++frame) {
        make(100);
        pump.flush();
    }
    EXPECT_EQ(kept.core[0].tail.position, core.tail);
    // A frame without records holds none.
    line_bytes.clear();
    transmitter_room = 3;
    pump.console("late", 4);
    pump.run();
    ASSERT_EQ(line_bytes.size(), 3u);
    EXPECT_EQ(kept.core[0].tail.position, core.tail);
}
// For any part of the last frame that reached the line.
TEST_F(WarmReset, AFrameThatAResetCutsIsSentAgain) {
    pump.set_mode(Mode::stream);
    std::uint64_t arrived = 0;
    unsigned cut = 0;
    for (int go = 0; go < 500; ++go) {
        make(20);
        const std::uint64_t now = machine.now += hz / 100;
        transmitter_room = 30;
        pump.run();
        for (const Event& event : receive().events) ASSERT_EQ(event.index, arrived++);
        cut += line_bytes.size() > 10;
        auto line = std::exchange(line_bytes, {});
        auto its_decoders = std::exchange(decoders, {});
        transmitter_room = any_number;
        const Received rest = boot();
        ASSERT_FALSE(rest.events.empty());
        EXPECT_LE(rest.events.front().index, arrived);
        EXPECT_EQ(rest.events.back().index, record_index(core.cursor) - 1);
        machine.now = now;
        line_bytes = std::move(line);
        decoders = std::move(its_decoders);
    }
    EXPECT_GE(arrived, 5000u);
    EXPECT_GE(cut, 100u);
}
TEST_F(WarmReset, AHeaderThatIsBeingWrittenIsNotWhole) {
    pump.prepare_reset();
    ASSERT_TRUE(is_whole(kept, image));
    sim::SimMachine looking(0, 64);
    looking.on_clock = [this] { EXPECT_FALSE(is_whole(kept, image)); };
    WarmResetWriter<sim::SimMachine> keeper(looking);
    keeper.open(&kept, hz);
    keeper.keep_all(
        cores,
        {.session = 7, .console_dropped = 0, .flight = true, .lossless = false, .on_line = false});
    EXPECT_TRUE(is_whole(kept, image));
}

TEST_F(WarmReset, EachBitOfTheHeaderMattersAndTheImage) {
    make(3000);
    pump.prepare_reset();
    auto* const words = reinterpret_cast<std::uint64_t*>(&kept);
    const std::size_t count = offsetof(WarmResetHeader, core) / 8 + sizeof(WarmResetCore) / 8;
    for (std::size_t word = 0; word < count; ++word) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            words[word] ^= std::uint64_t{1} << bit;
            EXPECT_TRUE(boot().events.empty()) << word << "." << bit;
            EXPECT_EQ(found.headers_refused, word == 0 ? 0u : 1u);
            words[word] ^= std::uint64_t{1} << bit;
        }
    }
    const WarmResetImage others[] = {
        {3, 2, 1, hz}, {1, 3, 1, hz}, {1, 2, 2, hz}, {1, 2, 1, hz + 1}};
    for (const WarmResetImage& other : others) {
        const Recovered none = recovered(other);
        EXPECT_EQ(tuple(none.records, none.headers_refused), tuple(0u, 1u));
    }
    expect_true(boot(), record_index(core.cursor));
}

// One impossible record, and its neighbours.
TEST_F(WarmReset, WhatCannotBeIsLeftOutAlone) {
    constexpr std::uint64_t index = 50;
    const std::uint64_t clock = machine.now + index;
    const auto ret = [&](std::uint64_t entry) {
        return make_record(Kind::ret, static_cast<std::uint32_t>(entry << 1), clock);
    };
    const auto site = [&](std::uint32_t low, std::uint64_t at) {
        return make_record(Kind::call, low >> 3, at);
    };
    const struct {
        Record record;
        bool is_left_out;
    } cases[] = {{ret(index - 1), false},
                 {ret(index), true},
                 {ret(index + 1), true},
                 {make_record(Kind::extended, 14, clock), true},  // no such kind
                 {make_extended(Extended::masked, 0, clock), false},
                 {site(first_site, clock), false},
                 {site(first_site - 8, clock), true},
                 {site(first_site, clock - hz / 1000 + 5), false},
                 {site(first_site, clock - hz / 1000 - 5), true}};
    make(100);
    pump.prepare_reset();
    const auto good = memory[0].ring;
    for (const auto& [record, is_left_out] : cases) {
        memory[0].ring = good;
        const std::uint64_t position = ring_bytes + index * record_bytes;
        write_late(position, record);
        const Received received = boot();
        EXPECT_EQ(found.refused, is_left_out ? 1u : 0u) << std::hex << record.word;
        EXPECT_EQ(std::count_if(received.events.begin(), received.events.end(),
                                [&](const Event& event) { return event.index == index; }),
                  is_left_out ? 0 : 1);
        EXPECT_EQ(received.events.back().index, 99u);
    }
}

// A slot was claimed before the header was written, and is still not written at the reset.
TEST_F(WarmReset, HolesBeforeTheHeadersCursor) {
    const Core fresh = core;
    const std::uint64_t counts[] = {
        0, 1, 3, 3 * slots / 4, slots, slots + 3, 7 * slots / 4, 2 * slots + 2};
    for (const std::uint64_t count : counts) {
        for (const unsigned holes : {1u, 2u, 60u}) {
            core = fresh;
            std::fill(memory[0].ring.begin(), memory[0].ring.end(), 0);
            make(static_cast<unsigned>(count));
            core.cursor += holes * record_bytes;
            pump.prepare_reset();
            const Received received = boot();
            if (count != 0)
                expect_true(received, count, holes);
            else
                EXPECT_EQ(found.records, 0u);
        }
    }
}

// The code that the reset interrupted had claimed a slot.
TEST_F(WarmReset, AHoleDoesNotEndTheRing) {
    make(100);
    pump.prepare_reset();
    for (unsigned holes = 0; holes < 3; ++holes) {
        core.cursor += record_bytes;
        make(5);
    }
    const Received received = boot();
    EXPECT_EQ(without_own(received.events).size(), 115u);
    EXPECT_EQ(received.events.back().index, 117u);
}

// For any ring, the boot sends no impossible record, and counts all that it leaves out.
TEST_F(WarmReset, ASpoiledRing) {
    std::mt19937_64 random(3);
    make(5000);
    pump.prepare_reset();
    const auto good = memory[0].ring;
    for (int round = 0; round < 300; ++round) {
        memory[0].ring = good;
        for (unsigned i = 0; i < 1u + random() % 300; ++i) {
            std::uint64_t& word = memory[0].ring[random() % slots];
            word = random() % 2 == 0 ? random() : word ^ std::uint64_t{1} << random() % 64;
        }
        const Received received = boot();
        if (found.records == 0) continue;
        EXPECT_EQ(received.stats.back().delivered, received.events.size());
        for (const Event& event : without_own(received.events)) {
            if (event.kind == Kind::ret) continue;
            EXPECT_GE(event.site_offset, first_site - 0x1000);
            EXPECT_LT(event.site_offset, site_end - 0x1000);
        }
    }
}

// ---- resets at any byte of the line: no sequence number comes twice, and no counter goes back

using CoreStream = std::pair<Stream, unsigned>;

struct Reset {};

struct WarmSequences : WarmReset {
    WarmSequences() {
        before_byte = [this](std::uint8_t byte) { look(byte); };
        config.mode = Mode::stream;
        WarmReset::pump.set_mode(Mode::stream);
        pump.open(config, hello, 7, &kept);
    }
    // Sends a frame of each stream that needs only the pump, and several frames of records.
    void some_frames() {
        make(100);
        pump.send_hello();
        pump.send_stats();
        replies->post(replies->passing(), protocol::Command::mark, protocol::Answer::ok);
        pump.console("text", 4);
        pump.flush();
    }
    // The header in memory must allow for each frame before its first byte is on the line.
    void look(std::uint8_t byte) {
        if (frame.empty()) frame_limit = is_whole(kept, image) ? kept.sequence_limit : 0;
        if (byte != 0) {
            frame.push_back(byte);
        } else {
            const auto parsed = protocol::parse_frame(frame.data(), frame.size());
            EXPECT_TRUE(!parsed.ok || parsed.header.sequence < frame_limit);
            frame.clear();
        }
        if (bytes_to_reset != 0 && --bytes_to_reset == 0) throw Reset{};
    }
    // Returns the sequence numbers of each stream. None may come twice.
    std::map<CoreStream, std::set<std::uint32_t>> used(bool cut = false) {
        std::map<CoreStream, std::set<std::uint32_t>> numbers;
        for (const FrameHeader& header : receive(cut).headers) {
            auto& of = numbers[{header.stream, header.core}];
            EXPECT_TRUE(of.insert(header.sequence).second)
                << static_cast<unsigned>(header.stream) << " " << header.sequence;
        }
        return numbers;
    }

    std::vector<Byte> frame;         // that is being sent
    std::uint64_t frame_limit = 0;   // in the header at its first byte; 0: the header is not whole
    std::size_t bytes_to_reset = 0;  // 0: no reset
    std::unique_ptr<Replies> replies = std::make_unique<Replies>();
    Pump<sim::SimMachine> pump{machine, cores, encoders.get(), nullptr, replies.get()};
};

TEST_F(WarmSequences, TheHeaderAllowsForEachFrameBeforeItIsOnTheLine) {
    some_frames();
    machine.poc_cleans.clear();
    for (unsigned round = 0; round < 6000; ++round) some_frames();
    EXPECT_TRUE(is_cleaned(reinterpret_cast<std::uintptr_t>(&kept.sequence_limit)));
    const auto numbers = used();
    EXPECT_EQ(numbers.size(), 5u);
    for (const auto& [stream, of] : numbers) {
        EXPECT_EQ(*of.begin(), 0u);
        EXPECT_EQ(*of.rbegin() + 1, of.size());  // without a reset, no number is left out
    }
    EXPECT_GT(numbers.at({Stream::console, 0}).size(), 5999u);
}

// A reset at any byte of the line, and others while the next boots send the rest.
struct CutSession : WarmSequences {
    explicit CutSession(unsigned seed) : random(seed) {}
    void TestBody() override {
        some_frames();
        until_reset([&] {
            for (unsigned i = 0; i < 20; ++i) some_frames();
        });
        for (unsigned boots = 0; boots < 3; ++boots) until_reset([&] { send_what_is_left(); });
        line_bytes = line;
        (void)used(true);
    }
    void until_reset(auto work) {
        bytes_to_reset = 1 + random() % 3000;
        try {
            work();
        } catch (const Reset&) {
        }
        bytes_to_reset = 0;
        line.insert(line.end(), line_bytes.begin(), line_bytes.end());
        line_bytes.clear();
    }
    std::mt19937_64 random;
    std::vector<Byte> line;
};
TEST_F(WarmSequences, NoNumberIsUsedTwiceWhateverTheResetsCutOff) {
    for (unsigned seed = 0; seed < 60; ++seed) CutSession(seed).TestBody();
}

TEST_F(WarmSequences, TheRestOfASessionBeginsBehindAllThatWasUsedAndSaysWhere) {
    some_frames();
    const auto before = used();
    make(50);
    const std::uint64_t limit = kept.sequence_limit;
    line_bytes.clear();
    send_what_is_left();
    const Received received = first_cut_off();
    ASSERT_FALSE(received.hellos.empty());
    EXPECT_EQ(received.hellos[0].sequences_from, limit);
    EXPECT_TRUE(received.traces.at(0).key);
    std::map<CoreStream, std::uint32_t> first;
    for (const FrameHeader& header : received.headers)
        first.try_emplace({header.stream, header.core}, header.sequence);
    EXPECT_EQ(first.size(), 3u);
    for (const auto& [stream, sequence] : first) {
        EXPECT_EQ(sequence, limit);
        EXPECT_TRUE(!before.contains(stream) || sequence > *before.at(stream).rbegin());
    }
    // Streams that had nothing left to send.
    EXPECT_EQ(next.profile_sequence, limit);
    EXPECT_EQ(next.profile_events_sequence, limit);
    EXPECT_GT(kept.sequence_limit, limit);
    EXPECT_EQ(hello.sequences_from, 0u);
}

TEST_F(WarmSequences, TheNextSessionBeginsAtZeroInEveryStream) {
    some_frames();
    make(50);
    line_bytes.clear();
    (void)recovered(image);
    Pump<sim::SimMachine> booted{machine, {&next, 1}, encoders.get(), nullptr, replies.get()};
    replies->post(replies->passing(), protocol::Command::mark, protocol::Answer::ok);
    booted.send_recovered(config, hello, kept);
    ASSERT_TRUE(is_whole(kept, image));
    machine.poc_cleans.clear();
    begin_keeping(machine, kept, image);
    EXPECT_FALSE(is_whole(kept, image));
    EXPECT_TRUE(is_cleaned(reinterpret_cast<std::uintptr_t>(&kept.crc)));
    line_bytes.clear();
    booted.open(config, hello, 7, &kept);
    booted.send_hello();
    booted.console("x", 1);
    replies->post(replies->passing(), protocol::Command::mark, protocol::Answer::ok);
    booted.flush();
    for (const auto& [stream, of] : used())
        EXPECT_EQ(*of.begin(), 0u) << static_cast<unsigned>(stream.first);
}

TEST_F(WarmSequences, ANumberOfNoReader) {
    some_frames();
    pump.prepare_reset();
    kept.sequence_limit = most_sequence_limit;
    kept.crc = crc_of(kept);
    EXPECT_TRUE(is_whole(kept, image));
    ++kept.sequence_limit;
    kept.crc = crc_of(kept);
    EXPECT_FALSE(is_whole(kept, image));
}

// It also holds for a session whose header was never whole, and for a clock that begins again at 0.
TEST_F(WarmSequences, EachSessionHasAnotherNumberThanThoseBefore) {
    kept.crc = 0;
    EXPECT_EQ(session_after(kept, 5), 8);
    kept.session = 0xffff;
    EXPECT_EQ(session_after(kept, 5), 0);
    kept.magic = 0;
    EXPECT_EQ(session_after(kept, 0x1'0002'0004), 7);
}

// The old boot's counters stay, and no record gets the new boot's clock.
TEST_F(WarmSequences, CountsGoOnAndNothingIsAddedToTheRing) {
    some_frames();
    core.filtered = 11;
    core.calls_skipped = 4;
    core.aggregated = 22;
    pump.prepare_reset();
    kept.console_dropped = 33;
    kept.crc = crc_of(kept);
    make(20);
    const std::uint64_t end = record_index(core.cursor);
    for (const std::uint64_t now : {std::uint64_t{5}, std::uint64_t{1} << 40}) {
        machine.now = now;
        const Received received = boot();
        EXPECT_EQ(received.events.back().index, end - 1);
        const Stats last = received.stats.back();
        EXPECT_EQ(tuple(last.filtered, last.aggregated, last.console_dropped, last.generated),
                  tuple(15u, 22u, 33u, end + 15 + 22));
    }
}

}  // namespace nopscope::testing::warm_reset_test

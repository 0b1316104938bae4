// SPDX-License-Identifier: Apache-2.0
// Warm resets at any byte of the line: the pump uses no sequence number twice, and no counter goes
// back.
#include "tests/unit/tracer/warm_reset_fixture.hpp"

#include <new>
#include <random>

namespace nopscope::testing {
namespace {

// ---- sequence numbers ----

using Stream = std::pair<protocol::Stream, unsigned>;  // stream and core

// For try_write: the limit in the header, at each byte of the line.
const WarmResetHeader* header_at_line = nullptr;
const WarmResetImage* image_at_line = nullptr;
std::vector<std::uint64_t> limits;  // 0: no whole header, or not a frame's first byte
std::size_t bytes_to_reset = 0;     // 0: no reset
struct Reset {};

bool write_and_look(std::uint8_t byte) {
    const bool begins = line_bytes.empty() || line_bytes.back() == 0;
    limits.push_back(
        begins && is_whole(*header_at_line, *image_at_line) ? header_at_line->sequence_limit : 0);
    line_bytes.push_back(byte);
    if (bytes_to_reset != 0 && --bytes_to_reset == 0) throw Reset{};
    return true;
}

class WarmSequences : public WarmReset {
protected:
    WarmSequences() {
        header_at_line = &kept;
        image_at_line = &image;
        limits.clear();
        bytes_to_reset = 0;
        config.output.try_write = write_and_look;
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
    void expect_covered() {
        std::size_t begin = 0;
        for (std::size_t at = 0; at < line_bytes.size(); ++at) {
            if (line_bytes[at] != 0) continue;
            std::vector<protocol::Byte> chunk(line_bytes.begin() + static_cast<long>(begin),
                                              line_bytes.begin() + static_cast<long>(at));
            const protocol::ParsedFrame frame = protocol::parse_frame(chunk.data(), chunk.size());
            ASSERT_TRUE(!frame.ok || frame.header.sequence < limits[begin]);
            begin = at + 1;
        }
    }
    // Returns the sequence numbers of each stream. None may come twice.
    std::map<Stream, std::set<std::uint32_t>> used(bool cut = false) {
        std::map<Stream, std::set<std::uint32_t>> numbers;
        for (const protocol::FrameHeader& header : receive(cut).headers) {
            auto& of = numbers[{header.stream, header.core}];
            EXPECT_TRUE(of.insert(header.sequence).second)
                << static_cast<unsigned>(header.stream) << " " << header.sequence;
        }
        return numbers;
    }

    std::unique_ptr<Replies> replies = std::make_unique<Replies>();
    Pump<sim::SimMachine> pump{machine, cores, encoders.get(), nullptr, replies.get()};
};

TEST_F(WarmSequences, TheHeaderAllowsForEachFrameBeforeItIsOnTheLine) {
    for (unsigned round = 0; round < 6000; ++round) some_frames();
    expect_covered();
    const auto numbers = used();
    EXPECT_EQ(numbers.size(), 5u);
    for (const auto& [stream, of] : numbers) {
        EXPECT_EQ(*of.begin(), 0u);
        EXPECT_EQ(*of.rbegin() + 1, of.size());  // without a reset, no number is left out
    }
    EXPECT_GT(numbers.at({protocol::Stream::console, 0}).size(), 5999u);
}

TEST_F(WarmSequences, TheHeaderThatAllowsForThemHasReachedMemory) {
    some_frames();
    machine.poc_cleans.clear();
    for (unsigned round = 0; round < 5000; ++round) pump.console("x", 1), pump.flush();
    EXPECT_TRUE(is_cleaned(reinterpret_cast<std::uintptr_t>(&kept.sequence_limit)));
}

// A reset at any byte of the line, and another one while the next boot sends the rest. Each boot
// finds the header that is in memory.
TEST_F(WarmSequences, NoNumberIsUsedTwiceWhateverTheResetsCutOff) {
    std::mt19937_64 random(11);
    for (unsigned round = 0; round < 60; ++round) {
        some_frames();
        std::vector<protocol::Byte> line;
        const auto until_reset = [&](auto work) {
            bytes_to_reset = 1 + random() % 3000;
            try {
                work();
            } catch (const Reset&) {
            }
            bytes_to_reset = 0;
            line.insert(line.end(), line_bytes.begin(), line_bytes.end());
            line_bytes.clear();
        };
        until_reset([&] {
            for (unsigned i = 0; i < 20; ++i) some_frames();
        });
        for (unsigned resets = 0; resets < 2; ++resets) until_reset([&] { send_what_is_left(); });
        until_reset([&] {
            send_what_is_left();
            bytes_to_reset = 0;
        });
        line_bytes = line;
        decoders.clear();
        (void)used(true);
        // The next round needs a new session.
        begin_keeping(machine, kept, image);
        const std::uint64_t ring = core.ring;
        clear(core);
        core.ring = ring;
        for (std::uint64_t& word : memory[0].ring) word = 0;
        core.cursor = core.tail = core.seen = ring_bytes;
        core.reserve = return_reserve_bytes;
        core.pumped_clock = core.seen_clock = core.last_sync = machine.now;
        ::new (&pump) Pump<sim::SimMachine>{machine, cores, encoders.get(), nullptr, replies.get()};
        pump.open(config, hello, 7, &kept);
    }
}

TEST_F(WarmSequences, TheRestOfASessionBeginsBehindAllThatWasUsedAndSaysWhere) {
    some_frames();
    const auto before = used();
    make(50);
    const std::uint64_t limit = kept.sequence_limit;
    line_bytes.clear();
    send_what_is_left();
    const std::vector<protocol::Byte> line = line_bytes;
    EXPECT_EQ(line.front(), 0);
    line_bytes.erase(line_bytes.begin());
    const Received received = receive();
    ASSERT_FALSE(received.hellos.empty());
    EXPECT_EQ(received.hellos[0].sequences_from, limit);
    EXPECT_TRUE(received.traces.at(0).key);
    std::map<Stream, std::uint32_t> first;
    for (const protocol::FrameHeader& header : received.headers)
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
    begin_keeping(machine, kept, image);
    line_bytes.clear();
    limits.clear();
    booted.open(config, hello, 7, &kept);
    booted.send_hello();
    booted.console("x", 1);
    replies->post(replies->passing(), protocol::Command::mark, protocol::Answer::ok);
    booted.flush();
    expect_covered();
    for (const auto& [stream, of] : used())
        EXPECT_EQ(*of.begin(), 0u) << static_cast<unsigned>(stream.first);
}

TEST_F(WarmSequences, BeforeASessionsFirstFrameNothingOfTheOneBeforeIsLeft) {
    some_frames();
    pump.prepare_reset();
    ASSERT_TRUE(is_whole(kept, image));
    machine.poc_cleans.clear();
    begin_keeping(machine, kept, image);
    EXPECT_FALSE(is_whole(kept, image));
    EXPECT_TRUE(is_cleaned(reinterpret_cast<std::uintptr_t>(&kept.crc)));
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
        const protocol::Stats last = received.stats.back();
        EXPECT_EQ(last.filtered, 15u);
        EXPECT_EQ(last.aggregated, 22u);
        EXPECT_EQ(last.console_dropped, 33u);
        EXPECT_EQ(last.generated, end + 15 + 22);
    }
}

}  // namespace
}  // namespace nopscope::testing

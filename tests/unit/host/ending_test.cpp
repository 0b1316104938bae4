// SPDX-License-Identifier: Apache-2.0
// How the host ends a recording. The target answers as the test wants.
#include "host-tools/command/ending.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::ending_test {

// Accepts each command at once. Each turn sends one frame from `coming`.
class EndingTest : public ::testing::Test, protected Source {
protected:
    EndingTest() {
        HelloInfo hello;
        hello.session = 7;
        hello.cores = 2;
        hello.takes_commands = true;
        ending.on_session(hello);
        client.on_session(7);
        client.set_patience(
            {.answer = 1ms, .attempts = 3, .hello = 5ms, .hello_behind = 5ms, .trial = 1ms});
        ending.set_patience({.silence = 30ms, .all = 5000ms});
    }

    Result read(std::span<std::uint8_t>, std::chrono::milliseconds) override { return {}; }
    void write(std::span<const std::uint8_t> bytes) override {
        std::vector<std::uint8_t> frame(bytes.begin() + 1, bytes.end() - 1);  // without delimiters
        const protocol::ParsedFrame parsed = protocol::parse_frame(frame.data(), frame.size());
        ASSERT_TRUE(parsed.ok);
        if (is_mute) return;
        number = parsed.header.sequence;
        what = static_cast<Command>(parsed.payload[0]);
        if (*what != Command::ping) asked.push_back(*what);
    }
    bool turn() {
        if (what) {
            answer(*what);
        } else if (!coming.empty()) {
            coming.front()();
            coming.erase(coming.begin());
            ++frames;
        }
        return !is_closed;
    }
    void answer(Command command) {
        what.reset();
        protocol::Byte bytes[protocol::max_result_bytes];
        protocol::Writer out(bytes);
        switch (command) {
        case Command::ping: out.varint(0), out.varint(0); break;
        case Command::stop:
            for (const std::uint64_t each : {50, 2, 10, 20}) out.varint(each);
            break;
        case Command::send_profile: out.varint(read_out); break;
        default: out.varint(60);
        }
        client.on_reply({number, command, protocol::Answer::ok, bytes, out.size()});
    }
    // A core's whole read-out with this number.
    auto profile(unsigned core, std::uint64_t its_number) {
        return [this, core, its_number] {
            protocol::Byte payload[protocol::max_payload_bytes];
            protocol::ProfileWriter out(payload);
            ending.on_profile(core, payload, out.finish({its_number, 0, true, 55}));
        };
    }
    auto records(unsigned core, std::uint64_t first, std::size_t count) {
        return [this, core, first, count] {
            const std::vector<protocol::StampedRecord> some(count);
            ending.on_trace(core, {.first_index = first, .records = some});
        };
    }
    auto stats(unsigned core, std::uint64_t now, std::uint64_t delivered) {
        return [this, core, now, delivered] {
            ending.on_stats(core, {.now = now, .delivered = delivered, .has_state = true});
        };
    }
    // Core 0's stats have this clock and these records, and core 1's all of them.
    void profiles_and_stats(std::uint64_t now, std::uint64_t delivered, std::uint64_t of_1 = 20) {
        for (const unsigned core : {0u, 1u}) coming.push_back(profile(core, 4));
        coming.push_back(stats(0, now, delivered));
        coming.push_back(stats(1, 60, of_1));
    }
    std::string run(bool keep_tracing = false) {
        return ending.run({.client = client,
                           .turn = [this] { return turn(); },
                           .frames = [this] { return frames; },
                           .tell = [this](const ClockPair& pair) { pairs.push_back(pair); }},
                          keep_tracing);
    }

    Ending ending;
    CommandClient client{*this, [this] { return turn(); }};
    std::vector<std::function<void()>> coming;
    std::vector<Command> asked;
    std::vector<ClockPair> pairs;
    std::optional<Command> what;
    std::uint32_t number = 0;
    std::uint64_t read_out = 4;
    std::uint64_t frames = 0;
    bool is_mute = false;
    bool is_closed = false;
};

TEST_F(EndingTest, StopsReadsOutAndTakesWhatWasRecordedBefore) {
    coming = {stats(0, 51, 10), profile(0, 4),    stats(1, 52, 20),
              profile(1, 4),    stats(0, 60, 10), stats(1, 61, 20)};
    const std::uint64_t before = utc_now_ns();
    EXPECT_EQ(run(), "");
    const std::uint64_t after = utc_now_ns();
    EXPECT_THAT(asked, ElementsAre(Command::stop, Command::send_profile, Command::stats));
    EXPECT_TRUE(coming.empty());
    ASSERT_EQ(pairs.size(), 1u);
    EXPECT_EQ(pairs[0].clock, 60u);
    EXPECT_TRUE(pairs[0].exchanged);
    EXPECT_GE(pairs[0].utc_ns - pairs[0].error_ns, before);
    EXPECT_LE(pairs[0].utc_ns + pairs[0].error_ns, after + 1);
}

TEST_F(EndingTest, ATargetThatKeepsTracingIsNotStopped) {
    coming = {profile(0, 5), profile(1, 4), stats(0, 60, 1), stats(1, 60, 1)};
    EXPECT_EQ(run(true), "");
    EXPECT_THAT(asked, ElementsAre(Command::send_profile, Command::stats));
}

TEST_F(EndingTest, AReadOutFromBeforeIsNotTheOne) {
    coming = {profile(0, 3), profile(1, 4)};
    EXPECT_THAT(run(), HasSubstr("the profile did not come whole"));
}

TEST_F(EndingTest, RecordsThatAreOnTheWayAreWaitedFor) {
    profiles_and_stats(60, 10, 19);
    EXPECT_THAT(run(), HasSubstr("what the target had recorded before the end did not come whole"));
    profiles_and_stats(59, 10);
    EXPECT_THAT(run(), HasSubstr("did not come whole"));
}

TEST_F(EndingTest, StatsFromBeforeTheLastRecordsAreTakenOnceMore) {
    read_out = 0;  // the target keeps no profile
    coming = {stats(0, 60, 4), stats(1, 60, 20), records(0, 4, 6), stats(0, 60, 10),
              stats(1, 60, 20)};
    EXPECT_EQ(run(), "");
    EXPECT_THAT(asked,
                ElementsAre(Command::stop, Command::send_profile, Command::stats, Command::stats));
    EXPECT_EQ(pairs.size(), 1u);
}

TEST_F(EndingTest, ASlowLineIsWaitedForAsLongAsItBringsSomething) {
    const auto nothing = [] { std::this_thread::sleep_for(2ms); };
    coming.assign(40, nothing);
    profiles_and_stats(60, 10);
    EXPECT_EQ(run(), "");
    // The wait has a limit.
    ending.set_patience({.silence = 30ms, .all = 40ms});
    read_out = 9;
    coming.assign(400, nothing);
    EXPECT_THAT(run(), HasSubstr("did not come whole"));
    EXPECT_GT(coming.size(), 300u);
}

TEST_F(EndingTest, ATargetThatDoesNotAnswerAndALineThatClosesAreSaid) {
    is_mute = true;
    EXPECT_THAT(run(), HasSubstr("does not answer commands"));
    is_closed = true;
    EXPECT_THAT(run(), AllOf(HasSubstr("the line closed"),
                             HasSubstr("what the target has counted since it was last read is not "
                                       "in the recording")));
}

TEST_F(EndingTest, AnUnreadProfileIsSaidWhereNobodyIsAsked) {
    EXPECT_EQ(ending.unread(), "");
    ending.on_stats(1, {.has_state = true, .profile = 1});
    EXPECT_THAT(ending.unread(), HasSubstr("never read out"));
    profile(1, 1)();
    EXPECT_EQ(ending.unread(), "");
}

}  // namespace nopscope::host::test::ending_test

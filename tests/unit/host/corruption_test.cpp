// SPDX-License-Identifier: Apache-2.0
// Flips, drops, doubles or inserts one byte of a recording, at every position, and then many bytes
// at once by seed. The reader must invent no call. Every call with a time must be in the clean
// recording with the same time. The damage must be reported.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::corruption_test {

using Call = std::pair<std::pair<std::uint32_t, Ticks>, std::uint64_t>;  // site and ticks, begin
using Calls = std::map<std::pair<unsigned, std::uint64_t>, Call>;  // by session and entry index

// Lists every call with a time, by the index of its entry.
struct Lister final : SessionSink {
    Begun on_entry(std::uint32_t, std::uint32_t offset) {
        ++called;
        return {{offset / 8, 2}, 0};
    }
    std::uint32_t gap_node() const { return 1; }
    MemoryBudget& budget() { return room; }
    void on_call_only(std::uint32_t parent, std::uint32_t offset) { on_entry(parent, offset); }
    void on_complete_call(std::uint32_t, Ticks, const Durations::Inside&) {}
    void on_tracer_time(std::uint32_t, std::uint32_t) {}
    bool on_jump(std::uint32_t) { return false; }
    Begun on_entry_by_jump(std::uint32_t parent, std::uint32_t offset, Ticks) {
        return on_entry(parent, offset);
    }
    std::uint32_t on_path(std::uint32_t, std::uint32_t, const Durations::Sum&) { return 2; }
    bool leaves_out_short = false;
    bool on_cpu = false;
    bool leaves_out(const OpenCall&, Ticks, Outcome) { return false; }
    bool leaves_out_complete(Ticks) { return false; }
    bool is_selected(std::uint32_t) { return false; }
    void on_leaf(std::uint32_t parent, std::uint32_t offset, std::uint64_t index, Ticks begin,
                 Ticks ticks) {
        const Begun begun = on_entry(parent, offset);
        on_exit({.index = index,
                 .begin = begin,
                 .total_before = begun.total_before,
                 .path = begun.path},
                Outcome::returned, false, ticks, ticks, 0);
    }
    void on_exit(const OpenCall& call, Outcome outcome, bool incomplete, Ticks ticks,
                 [[maybe_unused]] Ticks self, Ticks /*away*/) {
        // A call that a gap touches may lack the tracer's share, and is flagged.
        if (outcome != Outcome::returned || incomplete) return;
        const Call made{{call.path.function, ticks}, call.begin};
        EXPECT_TRUE(calls.emplace(std::pair{session, call.index}, made).second)
            << "a call closed twice";
    }

    void on_session(const HelloInfo& hello) override {
        session = hello.session;
        decoder = std::make_unique<CallDecoder<Lister>>(*this);
    }
    void on_session_end() override { decoder->finish(); }
    void on_trace(unsigned, const TraceBatch& batch) override {
        if (batch.gap) decoder->on_gap();
        std::uint64_t index = batch.first_index;
        for (const auto& record : batch.records)
            decoder->on_event(protocol::event_of(record, index++));
    }

    unsigned session = 0;
    Calls calls;
    std::uint64_t called = 0;
    MemoryBudget room;
    std::unique_ptr<CallDecoder<Lister>> decoder;
};

// Two sessions with every kind of frame and record, in small frames.
TargetStream recording() {
    TargetStream target;
    target.records_per_frame = 24;
    std::mt19937 random(11);
    for (int boot = 0; boot < 2; ++boot) {
        target.hello();
        target.console("boot\n");
        const auto main = target.entry(1);
        for (int i = 0; i < 60; ++i) {
            std::vector<std::uint64_t> open;
            for (unsigned depth = 1 + random() % 6; depth > 0; --depth)
                open.push_back(target.entry(2 + random() % 20, 1 + random() % 500));
            if (i % 20 == 7) target.console("tick\n");
            if (i % 15 == 3) target.tracer(100);
            const bool jump = i % 10 == 4;
            for (; !open.empty(); open.pop_back())
                target.ret(open.back(), 1 + random() % 300, 0, jump && open.size() > 1);
            if (i % 30 == 9) target.hello();
            if (i % 30 == 19) target.stats(false);
        }
        target.ret(main);
        target.finish();
        if (boot == 0) target.reset();
    }
    return target;
}

class Corruption : public testing::Test {
protected:
    static Lister decode(const Bytes& bytes) {
        Lister lister;
        SessionReader reader(lister);
        reader.feed(bytes);
        reader.finish();
        const auto counters = reader.counters();
        EXPECT_EQ(counters.generated, counters.delivered + counters.dropped + counters.lost);
        return lister;
    }
    // Whether nothing shows any damage.
    static bool is_clean(const Bytes& bytes) {
        test::LineProfile profile;
        profile.read(bytes);
        return profile.counters().line.stray_zeros == 0 &&
               integrity_of(profile, profile.counters(), nullptr).clean;
    }
    // With `frames_only`, whole frames may vanish unnoticed where no later frame counts them: a
    // session's last hello or console frame. No record may vanish unnoticed.
    void check(const Bytes& bytes, bool frames_only = false) {
        const Lister found = decode(bytes);
        for (const auto& [identity, call] : found.calls) {
            const auto original = whole.calls.find(identity);
            ASSERT_NE(original, whole.calls.end()) << "an invented call";
            ASSERT_EQ(original->second.first, call.first);
        }
        ASSERT_LE(found.called, whole.called);
        if (!is_clean(bytes)) return;
        ASSERT_TRUE(frames_only) << "the damage does not show";
        ASSERT_EQ(found.calls, whole.calls) << "the damage does not show";
    }

    // Changes, drops, doubles or inserts one byte.
    void damage(Bytes& bytes, std::size_t at, unsigned how) {
        const auto here = bytes.begin() + static_cast<long>(at);
        const auto any = static_cast<std::uint8_t>(1 + random() % 255);
        if (how == 0) *here ^= any;
        if (how == 1) bytes.erase(here);
        if (how == 2) bytes.insert(here, bytes[at]);
        if (how == 3) bytes.insert(here, any - 1);
    }

    std::mt19937 random{5};
    const TargetStream clean = recording();
    const Lister whole = decode(clean.bytes);
};

TEST_F(Corruption, TheCleanRecordingIsClean) {
    EXPECT_TRUE(is_clean(clean.bytes));
    EXPECT_GT(whole.calls.size(), 300u);
    EXPECT_GT(clean.frame_ends.size(), 40u);
}

// The sanitized build tries only some positions, because the fuzzers test more.
#ifdef NOPSCOPE_SANITIZED
constexpr int one_in = 28;
#else
constexpr int one_in = 1;
#endif

TEST_F(Corruption, OneByteAnywhere) {
    for (std::size_t at = 0; at < clean.bytes.size() && !HasFatalFailure(); at += one_in) {
        SCOPED_TRACE(at);
        for (unsigned how = 0; how < 4; ++how) {
            Bytes bytes = clean.bytes;
            damage(bytes, at, how);
            check(bytes);
        }
    }
}

TEST_F(Corruption, FramesLostDoubledAndSwapped) {
    std::vector<Bytes> frames;
    std::size_t begin = 0;
    for (const std::size_t end : clean.frame_ends) {
        frames.emplace_back(clean.bytes.begin() + static_cast<long>(begin),
                            clean.bytes.begin() + static_cast<long>(end));
        begin = end;
    }
    for (int round = 0; round < 3000 / one_in && !HasFatalFailure(); ++round) {
        SCOPED_TRACE(round);
        auto some = frames;
        for (unsigned i = 0; i <= random() % 4; ++i) {
            const auto at = static_cast<long>(random() % some.size());
            switch (random() % 3) {
            case 0: some.erase(some.begin() + at); break;
            case 1: some.insert(some.begin() + at, some[static_cast<std::size_t>(at)]); break;
            case 2: some[static_cast<std::size_t>(at)][1] ^= 0x40; break;
            }
        }
        Bytes bytes;
        for (const auto& frame : some) bytes.insert(bytes.end(), frame.begin(), frame.end());
        if (bytes != clean.bytes) check(bytes, true);
    }
}

TEST_F(Corruption, ManyBytesAtOnce) {
    for (int round = 0; round < 3000 / one_in && !HasFatalFailure(); ++round) {
        SCOPED_TRACE(round);
        Bytes bytes = clean.bytes;
        for (unsigned i = 0; i <= random() % 20; ++i)
            damage(bytes, random() % bytes.size(), random() % 4);
        if (bytes != clean.bytes) check(bytes);
    }
}

// The second reader, written from docs/trace-format.md, must find the same calls and times.
TEST_F(Corruption, TheSecondReaderAgreesOnDamagedRecordings) {
    char name[] = "/tmp/nopscope-readers-XXXXXX";
    const fs::path dir = mkdtemp(name);
    for (int round = 0; round < 12; ++round) {
        Bytes bytes = clean.bytes;
        for (int i = 0; i < round; ++i) damage(bytes, random() % bytes.size(), 0);
        test::LineProfile profile;
        profile.read(bytes);
        std::ofstream(dir / "report.json")
            << json_report(or_throw(make_report(profile, profile.counters(), nullptr)));
        write_file(dir / "line", bytes);
        const std::string command = fmt::format(
            "cd {} && python3 {}/decode.py line report.json > out", dir.string(), NOPSCOPE_GOLDEN);
        ASSERT_EQ(std::system(command.c_str()), 0) << round << ": see " << dir;
    }
    fs::remove_all(dir);
}

}  // namespace nopscope::host::test::corruption_test
